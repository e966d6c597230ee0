"""Related queries: phrases of the titles and headings of the pages that a query found.

Pure: pages in, queries out. Nobody is asked. A phrase has two to four words, one of the query's among them. The query's
other words stand in it, or where its page begins. It is all that a title or heading says, or part of two titles. Then
come the query's words with a heading of a page that is about them. Names of sites beside a title, and numbers of
chapters, are left out. In scripts without spaces, a phrase is all that stands between two signs.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from itertools import chain, combinations, groupby

from dht import language_code
from index.change_feed import Text
from index.query.parser import Query
from index.query.question import question_in
from index.results.first_letters import plain
from index.results.snippet import shown_text, terms_of
from index.text.analyzer import terms
from index.text.scripts import UNSPACED
from index.text.stem_classes import class_of
from index.text.stop_words import languages_of

MOST = 8
LOOKED_PAGES, LOOKED_HEADINGS, LOOKED_CHARS = 10, 16, 120  # headings of each page, characters of each line
LOOKED_BODY = 2_000  # characters
MIN_WORDS, MAX_WORDS = 2, 4
MAX_WORD = 24  # characters
MIN_RUN, MAX_RUN = 3, 16  # of a phrase without spaces
PREFIX = 3  # letters of a query's words that are looked for first
MOST_BESIDE = 3  # words of a query that a heading follows
ENDING_WORDS = (2, 3)  # of such a heading
MOST_PAGES = 2  # with such a heading; what more have is furniture, as "further reading"
MAX_NAMED = 400  # characters of a title and an address
ALIKE = 0.7  # of the words of two phrases
_SITE_BORDER = re.compile(r"\s+[—–|·»-]+\s+")
_BORDER = re.compile(r"\s+[-—–|·»«]+\s+|[:;,!?()\[\]{}<>\"“”„«»¶|\\=。，：；？！、（）「」《》]+\s*|\.\s+|…")
_NUMBER = re.compile(
    r"\s*(?:(?:chapter|section|part|appendix|kapitel|chapitre|第|附录)\s*)?(?:\d+(?:\.\d+)*|[A-Z])[.:章节節\s]+",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?!(?:qu|\w)['’])[^\W\d_][\w'’.+#/-]*")  # begins with no elided article


_RUN = re.compile(f"[{UNSPACED}]")

_FURNITURE = frozenset(
    (
        "see also",
        "further reading",
        "read more",
        "learn more",
        "previous topic",
        "next topic",
        "page contents",
        "table of contents",
        "quick search",
        "detailed description",
    )
)
_LETTERS = re.compile(r"[^\W_]+")
_SIGNS = " ¶#\uf0c1"  # of links to headings


class _PhraseKind(IntEnum):
    """Where a phrase stands; the smallest is best."""

    TITLE = 0
    HEADING = 1
    PART = 2  # of either
    BESIDE = 3  # a heading without a term of the query, on a page that is about it


_Found = tuple[str, _PhraseKind, frozenset[str]]


@dataclass(slots=True)
class _Phrase:
    """A phrase that may be shown: how it is written, the first place of its kind, and the pages that say it."""

    text: str
    kind: _PhraseKind
    stems: frozenset[str]
    pages: set[int] = field(default_factory=set)


def related_queries(query: Query, pages: Sequence[Text]) -> list[str]:
    """Return up to MOST queries that ask for more of what these pages are about; the best first."""
    pages = pages[:LOOKED_PAGES]
    titles, missing = _titles(pages), [_missing(query, page) for page in pages]
    spoken, found = _spoken(query, pages, missing), dict[frozenset[str], _Phrase]()
    for number, page in enumerate(pages):
        if language_code(page.language) in ("", spoken):
            finder = _finder(query, page, missing[number], spoken)
            for text, kind, stems in finder.phrases(titles[number], _headings(page)):
                phrase = found.setdefault(stems, _Phrase(text, kind, stems))
                phrase.kind = min(phrase.kind, kind)
                phrase.pages.add(number)
    return _best(found.values())


def _spoken(query: Query, pages: Sequence[Text], missing: Sequence[list[frozenset[str]]]) -> str:
    """Return the language of a query, else that of the first pages with most of its words in title and address."""
    counts = defaultdict[str, float](float)
    for number, page in enumerate(pages):
        counts[language_code(page.language)] += (1 + len(query.leaves) - len(missing[number])) / (2 + number)
    return language_code(query.language) or max(filter(None, counts), key=counts.__getitem__, default="")


def _titles(pages: Sequence[Text]) -> list[list[str]]:
    """Return the parts of each page's title that are its own, not its site's."""
    parts = [
        (page.url.partition("://")[2].partition("/")[0], _SITE_BORDER.split(page.title[: 2 * LOOKED_CHARS]))
        for page in pages
    ]
    hosts = Counter(host for host, _ in parts)
    shared = Counter((host, part) for host, cut in parts for part in set(cut))
    return [cut[:1] if hosts[host] == 1 else [each for each in cut if shared[host, each] == 1] for host, cut in parts]


def _headings(page: Text) -> tuple[str, ...]:
    """Return the headings of a page that lets its text be shown."""
    return page.headings[:LOOKED_HEADINGS] if page.max_snippet else ()


def _finder(query: Query, page: Text, missing: list[frozenset[str]], spoken: str) -> "_PhraseFinder":
    stem_class, beside = class_of(page.language), "" if missing else _beside(query)
    if missing:
        low = plain(page.body[:LOOKED_BODY])
        missing = [each for each in missing if not any(term[: max(PREFIX, len(term) - PREFIX)] in low for term in each)]
    wanted = terms_of(query.leaves, stem_class)
    return _PhraseFinder(wanted, frozenset(term[:PREFIX] for term in wanted), missing, stem_class, spoken, beside)


def _missing(query: Query, page: Text) -> list[frozenset[str]]:
    """Return the terms of each word of a query that neither title nor address of a page has."""
    stem_class = class_of(page.language)
    found = _LETTERS.findall(f"{page.title} {page.url}"[:MAX_NAMED])
    named = {stem for word in found for stem in _stems(word, stem_class)}
    return [each for each in (terms_of((leaf,), stem_class) for leaf in query.leaves) if named.isdisjoint(each)]


def _beside(query: Query) -> str:
    """Return the words beside which a heading makes a query, "" where there are too many or too odd ones."""
    asked = question_in(query.text)
    said = (asked.term if asked else query.text).split()
    return " ".join(said) if len(said) <= MOST_BESIDE and all(map(_WORD.fullmatch, said)) else ""


@dataclass(frozen=True, slots=True)
class _PhraseFinder:
    """Finds the phrases of a page's lines.

    `wanted`: the terms of the query, `beginnings`: how they begin.
    `missing`: those of each of its words that the page does not begin with, so that a phrase must hold one of them.
    `beside`: begins queries that end with a heading without any of the terms.
    """

    wanted: frozenset[str]
    beginnings: frozenset[str]
    missing: list[frozenset[str]]
    stem_class: int
    language: str
    beside: str

    def phrases(self, titles: Sequence[str], headings: Sequence[str]) -> Iterator[_Found]:
        """Yield phrases as they are shown, their kinds and terms."""
        lines = [line[:LOOKED_CHARS].replace("\n", " ") for line in (*titles, *headings)]
        for number, low in enumerate(plain("\n".join(lines)).split("\n") if lines else ()):
            kind = _PhraseKind.TITLE if number < len(titles) else _PhraseKind.HEADING
            is_asked = any(map(low.__contains__, self.beginnings))
            if is_asked or (self.beside and kind is _PhraseKind.HEADING):
                yield from self._of_line(lines[number], kind, is_asked)

    def _of_line(self, line: str, kind: _PhraseKind, is_asked: bool) -> Iterator[_Found]:
        line = shown_text(line).strip(_SIGNS)
        line = line[found.end() :] if (found := _NUMBER.match(line)) else line
        if is_asked:
            for piece in _BORDER.split(line):
                if _RUN.search(piece):
                    fits = MIN_RUN <= len(piece) <= MAX_RUN
                    yield from self._shown([piece.strip()], kind) if fits else ()
                else:
                    yield from self._of_words(piece.split(), kind)
        else:
            yield from self._ending(line)

    def _of_words(self, said: Sequence[str], kind: _PhraseKind) -> Iterator[_Found]:
        """Yield the whole piece, and of a title also what stands between its stop words and odd signs."""
        if MIN_WORDS <= len(said) <= MAX_WORDS and all(map(_WORD.fullmatch, said)):
            yield from self._shown(said, kind)
        if kind is _PhraseKind.TITLE:
            for is_subject, places in groupby(range(len(said)), lambda place: _is_subject(said[place], self.language)):
                within = list(places) if is_subject else []
                for start, end in combinations([*within, within[-1] + 1] if within else (), 2):
                    if MIN_WORDS <= end - start <= MAX_WORDS:
                        is_said = end - start == len(within) > MIN_WORDS
                        yield from self._shown(said[start:end], kind if is_said else _PhraseKind.PART)

    def _shown(self, said: Sequence[str], kind: _PhraseKind) -> Iterator[_Found]:
        """Yield a phrase if it says what is wanted and something new."""
        stems = self._stems_of(said)
        if stems.isdisjoint(self.wanted) or any(map(stems.isdisjoint, self.missing)):
            return
        if any(_is_subject(stem, self.language) for stem in stems - self.wanted):
            yield " ".join(said), kind, stems

    def _ending(self, line: str) -> Iterator[_Found]:
        said = line.split()
        if len(said) not in ENDING_WORDS or line.lower() in _FURNITURE:
            return
        if all(_is_subject(word, self.language) for word in said):
            text = f"{self.beside} {line}"
            yield text, _PhraseKind.BESIDE, self._stems_of(text.split())

    def _stems_of(self, said: Iterable[str]) -> frozenset[str]:
        return frozenset(chain.from_iterable(_stems(word, self.stem_class) for word in said))


@lru_cache(1 << 12)  # pages of a query repeat their words
def _stems(word: str, stem_class: int) -> tuple[str, ...]:
    return tuple(terms(word, stem_class=stem_class))


@lru_cache(1 << 12)
def _is_subject(word: str, language: str) -> bool:
    """Tell whether a word can begin or end a phrase: it is neither a stop word nor a number, and has no odd signs."""
    return len(word) <= MAX_WORD and bool(_WORD.fullmatch(word)) and language not in languages_of(word.lower())


def _best(found: Iterable[_Phrase]) -> list[str]:
    """Return the best phrases, none of them nearly another."""
    fit = sorted(
        filter(_is_fit, found),
        key=lambda each: (each.kind is _PhraseKind.BESIDE, -len(each.pages), each.kind, min(each.pages)),
    )
    chosen: list[_Phrase] = []
    for phrase in fit:
        if len(chosen) < MOST and not any(_are_alike(phrase.stems, other.stems) for other in chosen):
            chosen.append(phrase)
    return [_as_typed(each.text) for each in chosen]


def _is_fit(phrase: _Phrase) -> bool:
    """Tell whether a phrase is a page's subject; headings that many pages have are furniture."""
    if phrase.kind is _PhraseKind.BESIDE:
        return len(phrase.pages) <= MOST_PAGES
    return phrase.kind is not _PhraseKind.PART or len(phrase.pages) > 1


def _are_alike(one: Set[str], other: Set[str]) -> bool:
    return one <= other or len(one & other) >= ALIKE * len(one | other)


def _as_typed(text: str) -> str:
    """Return a phrase as people type it: in small letters, but for names as "SQL"."""
    said = text.split()
    is_loud = len(said) > 1 and text.isupper()
    return " ".join(word.lower() if is_loud or word[1:].islower() else word for word in said)
