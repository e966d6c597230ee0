"""The words of a text as people write them: folded, not stemmed. They are what spelling and suggestions know.

Pure: text in, words out. A word here is a run of letters, `MIN_CHARS` to `MAX_CHARS` long, in a script that puts spaces
between words. A run that holds a digit is no word, since nobody misspells it. Cases and the diacritics of Latin letters
are folded as for a search, and an English ending after an apostrophe is no part of the word.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from index.change_feed import Text
from index.text import text_leaf
from index.text.field_terms import MAX_BODY_CHARS, MAX_HEADINGS, MAX_LINE_CHARS
from index.text.folding import fold
from index.text.scripts import PLAIN_RUN, TOKEN, UNSPACED_RUN, plain_signs

MIN_CHARS = 3
MAX_CHARS = 32
MAX_TITLE_CHARS = 80  # of a suggestion
MAX_WORDS = 5000  # of one document: a page of more distinct words is a word list
_MEMO_CHUNKS = 1 << 15
_MEMO_BYTES = 64
_LETTERS = bytes(b if b > 127 or b == ord("'") or bytes((b,)).isalnum() else 32 for b in range(256)).lower()


class WrittenWord(NamedTuple):
    """A word of a text, folded, and where in the text it stands."""

    word: str
    start: int
    end: int


class _WordMemo(dict[bytes, tuple[str, ...]]):
    """The words of each piece of a text that was looked up; a piece holds no space."""

    def __missing__(self, chunk: bytes) -> tuple[str, ...]:
        found = tuple(each.word for each in written_words(chunk.decode("utf-8", "replace")))
        if len(chunk) <= _MEMO_BYTES:
            if len(self) >= _MEMO_CHUNKS:
                self.clear()
            self[chunk] = found
        return found


_memo = _WordMemo()


def forget() -> None:
    """Forget the words of all pieces; they are found again."""
    _memo.clear()


def words_of(text: Text) -> list[str]:
    """Return the distinct words of a document's title, headings and body, at most `MAX_WORDS`."""
    headings = (heading[:MAX_LINE_CHARS] for heading in text.headings[:MAX_HEADINGS])
    return distinct_words(text.title[:MAX_LINE_CHARS], *headings, text.body[:MAX_BODY_CHARS])


def title_line(title: str) -> str:
    """Return a title as suggestions offer it: one line in lower case, without half a word at its end; "" where there
    is too little of it."""
    words = unicodedata.normalize("NFKC", title[: 2 * MAX_TITLE_CHARS]).lower().split()
    line = " ".join(words)
    if len(line) > MAX_TITLE_CHARS:
        line = line[:MAX_TITLE_CHARS].rpartition(" ")[0]
    printable = all(map(str.isprintable, line)) and "\ufffd" not in line
    return line if len(line) >= MIN_CHARS and printable else ""


def distinct_words(*texts: str) -> list[str]:
    """Return the distinct words of some texts, in no order that means anything, at most `MAX_WORDS`."""
    spaced = spaced_letters(texts)
    sift = text_leaf.leaf.sift_chunks if text_leaf.leaf else sift_chunks
    plain, others = sift(spaced, MIN_CHARS, MAX_CHARS)
    found = dict.fromkeys(chain(plain, chain.from_iterable(map(_memo.__getitem__, others))))
    return list(found) if len(found) <= MAX_WORDS else list(islice(found, MAX_WORDS))


def spaced_letters(texts: Iterable[str]) -> bytes:
    """Write texts with letters of ASCII in lower case, and spaces for all of it that can be in no word."""
    return " ".join(texts).encode("utf-8", "replace").translate(_LETTERS)


def sift_chunks(spaced: bytes, least: int, most: int) -> tuple[list[str], list[bytes]]:
    """Return the distinct chunks of a text that are words of ASCII, of so many letters, and those that may hold words
    of any other kind. Runs of scripts without spaces are no words, and end them."""
    chunks = dict.fromkeys((spaced if spaced.isascii() else PLAIN_RUN.sub(" ", spaced.decode()).encode()).split())
    plain = [chunk for chunk in chunks if chunk.isalpha() and least <= len(chunk) <= most]  # all ASCII
    others = [chunk for chunk in chunks if not chunk.isalnum()]  # a digit makes it no word
    return b" ".join(plain).decode().split(), others


def written_words(text: str) -> Iterator[WrittenWord]:
    """Yield the words of a text in order, with their places."""
    for found in TOKEN.finditer(plain_signs(text)):
        raw = found.group()
        if len(raw) > MAX_CHARS or UNSPACED_RUN.match(raw):
            continue
        stem = raw.partition("'")[0]
        word = fold(stem)
        is_whole = len(stem) == len(raw) or raw[len(stem) + 1 :] in ("s", "S")  # "don't" is not "don"
        if is_whole and MIN_CHARS <= len(word) <= MAX_CHARS and not any(map(str.isdigit, word)):
            yield WrittenWord(word, found.start(), found.start() + len(stem))
