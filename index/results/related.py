"""Related queries: phrases of the titles and headings of the pages that a query found.

Pure: pages in, queries out. Nobody is asked. A phrase has two to four words, one of the query's among them. It is all
that a title says between two stop words or signs, or it stands in two of the pages. A site's name beside a title and the
numbers of chapters are left out. In scripts without spaces, a phrase is all that stands between two signs.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, groupby
from urllib.parse import urlsplit

from dht import language_code
from index.change_feed import Text
from index.query.parser import Query
from index.results.first_letters import plain
from index.results.snippet import terms_of
from index.text.analyzer import terms
from index.text.scripts import UNSPACED
from index.text.stem_classes import class_of
from index.text.stop_words import languages_of

MOST = 8
LOOKED_PAGES, LOOKED_HEADINGS, LOOKED_CHARS = 10, 24, 120  # headings of each page, characters of each line
MIN_WORDS, MAX_WORDS = 2, 4
MAX_WORD = 24  # characters
MIN_RUN, MAX_RUN = 3, 16  # of a phrase without spaces
PREFIX = 3  # letters of a query's words that are looked for first
ALIKE = 0.7  # of the words of two phrases
_SITE_BORDER = re.compile(r"\s+[—–|·»-]+\s+")
_BORDER = re.compile(r"\s+[-—–|·»«]+\s+|[:;,!?()\[\]{}<>\"“”„«»¶|/\\=。，：；？！、（）「」《》]+\s*|\.\s+|…")
_NUMBER = re.compile(
    r"\s*(?:(?:chapter|section|part|appendix|kapitel|chapitre|第|附录)\s*)?(?:\d+(?:\.\d+)*|[A-Z])[.:章节節\s]+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w'’.+#-]*")


_RUN = re.compile(f"[{UNSPACED}]")

_Found = tuple[str, frozenset[str], bool]


@dataclass(slots=True)
class _Phrase:
    """A phrase that may be shown: how it is written, and where it stands."""

    text: str
    stems: frozenset[str]
    first: int  # page
    pages: set[int] = field(default_factory=set)
    is_said: bool = False  # by a title, as it is


def related_queries(query: Query, pages: Sequence[Text]) -> list[str]:
    """Return up to MOST queries that ask for more of what these pages are about; the best first."""
    pages = pages[:LOOKED_PAGES]
    titles = _titles(pages)
    spoken = _spoken(query, pages)
    found: dict[frozenset[str], _Phrase] = {}
    for number, page in enumerate(pages):
        if language_code(page.language) not in ("", spoken):
            continue
        wanted = terms_of(query.leaves, class_of(page.language))
        finder = _Finder(wanted, class_of(page.language), spoken)
        for line in (*titles[number], *page.headings[:LOOKED_HEADINGS]):
            for text, stems, is_whole in finder.phrases(line[:LOOKED_CHARS]):
                phrase = found.setdefault(stems, _Phrase(text, stems, number))
                phrase.pages.add(number)
                phrase.is_said |= is_whole and line in titles[number]
    return _best(found.values())


def _spoken(query: Query, pages: Sequence[Text]) -> str:
    """Return the language of a query, else the one of most of its pages, of equally many the first."""
    counts = Counter(language_code(page.language) for page in pages if page.language)
    return language_code(query.language) or next((code for code, _ in counts.most_common(1)), "")


def _titles(pages: Sequence[Text]) -> list[list[str]]:
    """Return the parts of each page's title that are its own, not its site's."""
    parts = [(urlsplit(page.url).hostname, _SITE_BORDER.split(page.title[: 2 * LOOKED_CHARS])) for page in pages]
    hosts = Counter(host for host, _ in parts)
    shared = Counter((host, part) for host, cut in parts for part in set(cut))
    return [cut[:1] if hosts[host] == 1 else [each for each in cut if shared[host, each] == 1] for host, cut in parts]


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the phrases of a page's lines that hold a wanted term."""

    wanted: frozenset[str]
    stem_class: int
    language: str

    def phrases(self, line: str) -> Iterator[_Found]:
        """Yield phrases as they are shown, their terms, and whether each is all between two borders."""
        low = plain(line)
        if not any(term[:PREFIX] in low for term in self.wanted):
            return
        for piece in _BORDER.split(line[found.end() :] if (found := _NUMBER.match(line)) else line):
            if _RUN.search(piece):
                text = piece.strip()
                yield from self._shown(text, MIN_RUN <= len(text) <= MAX_RUN, True)
            else:
                yield from self._of_words(piece.split())

    def _of_words(self, said: Sequence[str]) -> Iterator[_Found]:
        """Yield the whole piece, and what stands between its stop words and odd signs."""
        kinds = [_is_subject(word, self.language) for word in said]
        if all(map(_WORD.fullmatch, said)):
            yield from self._shown(" ".join(said), MIN_WORDS <= len(said) <= MAX_WORDS, True)
        for is_subject, places in groupby(range(len(said)), kinds.__getitem__):
            within = list(places) if is_subject else []
            for start, end in combinations([*within, within[-1] + 1] if within else (), 2):
                is_whole = end - start == len(within)
                yield from self._shown(" ".join(said[start:end]), MIN_WORDS <= end - start <= MAX_WORDS, is_whole)

    def _shown(self, text: str, fits: bool, is_whole: bool) -> Iterator[_Found]:
        """Yield a phrase if it says one of the wanted terms and something new."""
        if not fits:
            return
        stems = frozenset(stem for word in text.split() for stem in _stems(word, self.stem_class))
        new = stems - self.wanted
        if len(new) < len(stems) and any(_is_subject(stem, self.language) for stem in new):
            yield text, stems, is_whole


@lru_cache(1 << 12)  # pages of a query repeat their words
def _stems(word: str, stem_class: int) -> tuple[str, ...]:
    return tuple(terms(word, stem_class=stem_class))


@lru_cache(1 << 12)
def _is_subject(word: str, language: str) -> bool:
    """Tell whether a word can begin or end a phrase: it is neither a stop word nor a number, and has no odd signs."""
    return len(word) <= MAX_WORD and bool(_WORD.fullmatch(word)) and language not in languages_of(word.lower())


def _best(found: Iterable[_Phrase]) -> list[str]:
    """Return the best phrases, none of them nearly another."""
    fit = [each for each in found if each.is_said or len(each.pages) > 1]
    fit.sort(key=lambda each: (-len(each.pages), -len(each.stems), each.first, each.text))
    chosen: list[_Phrase] = []
    for phrase in fit:
        if len(chosen) < MOST and not any(_are_alike(phrase.stems, other.stems) for other in chosen):
            chosen.append(phrase)
    return [_as_typed(each.text) for each in chosen]


def _are_alike(one: Set[str], other: Set[str]) -> bool:
    return one <= other or len(one & other) >= ALIKE * len(one | other)


def _as_typed(text: str) -> str:
    """Return a phrase as people type it: in small letters, but for names as "SQL"."""
    return " ".join(word.lower() if word[1:].islower() else word for word in text.split())
