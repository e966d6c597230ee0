"""Tags, by which filters find a document, as short texts that it bears: words of its title, address and images, file
type, port, folders and date. Others are the single characters that it holds, of scripts that put several into a word.

Pure: a document in, tags out. One field of tags serves every engine, and a filter is any or all of some tags: so dates,
too, are compared without numbers. A date has a tag for its decade, year, month and day, and a range is the fewest of
them that cover it. The analyzer cuts runs of Chinese, and of syllables of Korean, into pairs, so that a character
inside a run is no term. A document bears a tag for each, by which one alone is found wherever it stands.
"""

import re
from collections.abc import Iterator, Sequence, Set
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import chain, islice
from urllib.parse import unquote, urlsplit

import numpy as np

from index.change_feed import Image, Text
from index.text import text_leaf
from index.text.analyzer import words
from index.text.field_terms import MAX_BODY_CHARS, MAX_HEADINGS, MAX_LINE_CHARS
from index.text.folding import fold
from index.text.site_host import place_tags

FIRST_YEAR, LAST_YEAR = 1970, 2099  # other dates are nobody's
LAST_DAY = 47_482  # the last of 2099; later dates are nobody's
DAY_S = 86_400.0  # clocks and time zones differ; what is dated later than its fetch by more is not believed
MAX_WORDS = 64  # of a title, and of an address
MAX_IMAGE_WORDS = 512  # distinct ones, of all images of a page
WEB_PAGE = "html"
_WEB_PAGES = frozenset(("htm", "html", "xhtml", "shtml", "php", "asp", "aspx", "jsp", "cgi", ""))
_OPEN_XML, _OPEN_DOCUMENT = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."
_FILES = {  # by media type: addresses without an ending, or of a program, may give files
    "application/pdf": "pdf",
    "application/epub+zip": "epub",
    **dict.fromkeys(("application/rtf", "application/x-rtf", "text/rtf", "text/richtext"), "rtf"),
    f"{_OPEN_XML}wordprocessingml.document": "docx",
    f"{_OPEN_XML}spreadsheetml.sheet": "xlsx",
    f"{_OPEN_XML}presentationml.presentation": "pptx",
    f"{_OPEN_DOCUMENT}text": "odt",
    f"{_OPEN_DOCUMENT}spreadsheet": "ods",
    f"{_OPEN_DOCUMENT}presentation": "odp",
}
_IMAGE = "image"
IMAGE_PREFIX = f"{_IMAGE}:"
_CHARACTER = "character:"  # what such a tag begins with
CHARACTER = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
_FIRST = 0x2E80  # before it, none is folded to such a character
_TYPE = re.compile(r"[a-z0-9]{1,5}")


def tags_of(text: Text) -> tuple[str, ...]:
    """Return the tags of a document, each once."""
    tags = _plain_tags(text.url, text.title[:MAX_LINE_CHARS], day_of(text), text.media_type)
    if text.images:
        tags = (*tags, *_image_tags(text.images))
    return (*tags, *[_CHARACTER + character for character in _characters_of(text)])


def bears(text: Text, tag: str) -> bool:
    """Tell whether a tag is one of a document's; its whole text is read for a character alone."""
    if tag.startswith(_CHARACTER):
        return tag.removeprefix(_CHARACTER) in _characters_of(text)
    if tag.startswith(IMAGE_PREFIX):
        return bool(text.images) and tag in _image_tags(text.images)
    return tag in _plain_tags(text.url, text.title[:MAX_LINE_CHARS], day_of(text), text.media_type)


def character_tag(character: str) -> str:
    """Return the tag of a document that holds a character, one of `characters_in`."""
    return f"{_CHARACTER}{character}"


def _characters_of(text: Text) -> list[str]:
    lines = text.title, *text.headings[:MAX_HEADINGS], _address(text.url)
    said = *(line[:MAX_LINE_CHARS] for line in lines), text.body[:MAX_BODY_CHARS], text.boilerplate[:MAX_BODY_CHARS]
    return characters_in(*said)


def _address(url: str) -> str:
    return unquote(url.partition("://")[2][:MAX_LINE_CHARS], errors="replace")


@lru_cache(256)  # a matcher asks the same document for each tag of a range
def _plain_tags(url: str, title: str, number: int, media_type: str) -> tuple[str, ...]:
    """Those of all but characters; `number`: of its day."""
    address = _address(url)
    found = [
        *word_tags("title", title),
        *word_tags("url", address),
        f"type:{type_of(url, media_type)}",
        *place_tags(url),
    ]
    if number:
        day = date(FIRST_YEAR, 1, 1) + timedelta(number - 1)
        found += [f"date:{day.year // 10}", f"date:{day:%Y}", f"date:{day:%Y-%m}", f"date:{day:%Y-%m-%d}"]
    return tuple(dict.fromkeys(found))


@lru_cache(256)  # as above
def _image_tags(images: tuple[Image, ...]) -> tuple[str, ...]:
    """Return a tag for each word of images; they share many texts."""
    texts = dict.fromkeys(said for image in images for said in image.words if said)
    tags = chain.from_iterable(word_tags(_IMAGE, said) for said in texts)
    return tuple(islice(dict.fromkeys(tags), MAX_IMAGE_WORDS))


def best_images(images: Sequence[Image], tags: Set[str], most: int) -> list[Image]:
    """Return the first images of those that bear the most of some tags; the page's order decides among equals. Those
    that bear none come last."""
    if not tags:
        return list(images[:most])
    return sorted(images, key=lambda image: -len(tags & set(_image_tags((image,)))))[:most]


def word_tags(field: str, text: str) -> list[str]:
    """Return a tag for each word of a field's text: as it is written, but folded; scripts without spaces as bigrams."""
    return [f"{field}:{fold(word)}" for word in words(text)[:MAX_WORDS]]


def type_of(url: str, media_type: str = "") -> str:
    """Return the type of a document. A media type of files counts first, then the ending of the address. A document
    with neither is a web page."""
    if media_type in _FILES:
        return _FILES[media_type]
    try:
        name = urlsplit(url).path.rpartition("/")[2].lower()
    except ValueError:
        return WEB_PAGE
    ending = name.rpartition(".")[2] if "." in name else ""
    return WEB_PAGE if ending in _WEB_PAGES or not _TYPE.fullmatch(ending) or ending.isdigit() else ending


def date_tags(first: date, last: date) -> Iterator[str]:
    """Yield the fewest tags that cover all days from the first to the last."""
    day = max(first, date(FIRST_YEAR, 1, 1))
    last = min(last, date(LAST_YEAR, 12, 31))
    while day <= last:
        is_new_year = (day.month, day.day) == (1, 1)
        if is_new_year and day.year % 10 == 0 and date(day.year + 9, 12, 31) <= last:
            yield f"date:{day.year // 10}"
            day = date(day.year + 10, 1, 1)
        elif is_new_year and date(day.year, 12, 31) <= last:
            yield f"date:{day:%Y}"
            day = date(day.year + 1, 1, 1)
        elif day.day == 1 and _end_of_month(day) <= last:
            yield f"date:{day:%Y-%m}"
            day = _end_of_month(day) + timedelta(1)
        else:
            yield f"date:{day:%Y-%m-%d}"
            day += timedelta(1)


def _end_of_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(4)).replace(day=1) - timedelta(1)


def date_of(text: Text) -> float:
    """Return when a page was last modified, or else published, by its own word: Unix seconds, 0.0 unknown."""
    said = (text.modified_at, text.published_at)
    return next((at for at in said if 0.0 < at <= text.fetched_at + DAY_S), 0.0)


def day_of(text: Text) -> int:
    """Return the number of the day that a page is dated: 1 is the first of January 1970, 0 unknown."""
    day = int(date_of(text) // DAY_S) + 1 if date_of(text) else 0
    return day if day <= LAST_DAY else 0


@cache
def written_code(code: int) -> str:
    """Return the output of the analyzer for a character by itself; "" where that is no word of these scripts."""
    found = words(chr(code))
    return found[0] if len(found) == 1 and is_character(found[0]) else ""


def is_character(word: str) -> bool:
    """Tell whether a word of `analyzer.words` is one such character."""
    return CHARACTER.fullmatch(word) is not None


def characters_in(*texts: str) -> list[str]:
    """Return the distinct characters of some texts as the analyzer writes them, ascending."""
    said = "".join(text for text in texts if not text.isascii())
    return text_leaf.leaf.characters_in(said, written_code) if text_leaf.leaf else sift_characters(said)


def sift_characters(said: str) -> list[str]:
    """Return the distinct characters of a text as the analyzer writes them, ascending."""
    if np.frombuffer(said.encode("utf-16-le", "replace"), "<u2").max(initial=0) < _FIRST:  # of most pages
        return []
    codes = np.frombuffer(said.encode("utf-32-le", "replace"), "<u4")  # ten thousand a page: not one by one in Python
    codes = np.sort(codes[codes >= _FIRST])  # np.unique would load numpy.ma, a megabyte
    return sorted({written_code(code) for code in codes[np.diff(codes, prepend=0) > 0].tolist()} - {""})
