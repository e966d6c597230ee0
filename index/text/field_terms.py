"""A document cut into terms once, for all that is made of them: what an engine indexes, its forward record, its sketch.

Pure: the same document gives the same terms everywhere. A page says most of its words several times: so each distinct
piece of it is looked up once, each term is one string, and where terms stand is told by their numbers.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from index.change_feed import Text
from index.text.analyzer import look_up, pieces_of
from index.text.analyzer_rules import NEWEST_ANALYZER, AnalyzerRules
from index.text.site_host import front_name
from index.text.stem_classes import class_of

TITLE, HEADINGS, URL, BODY = range(4)
LIMITS = (64, 512, 64, 20_000)  # terms kept of each field; part of the analyzer's version
BOILERPLATE_LIMIT = 8_000  # a menu of more terms is a list of URLs
MAX_HEADINGS = 64
MAX_LINE_CHARS = 4096  # of a title, a heading, an address
MAX_BODY_CHARS = 400_000  # what 20,000 long words need; a body of megabytes is not worth analysing

_Item = TypeVar("_Item")
_Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class FieldTerms:
    """The terms of a document in order, as their places in its vocabulary."""

    vocabulary: Sequence[str]  # each of its terms once
    lines: Sequence[NDArray[np.uint16]]  # its title, each heading that has terms, its address, body and boilerplate
    pieces: Sequence[bytes]  # the distinct ones of title, headings and body, see `analyzer.pieces_of`

    @property
    def title(self) -> list[str]:
        """The terms of its title."""
        return self._terms(self.lines[0])

    @property
    def headings(self) -> list[list[str]]:
        """The terms of each heading that has any."""
        return list(map(self._terms, self.lines[1:-3]))

    @property
    def url(self) -> list[str]:
        """The terms of its address."""
        return self._terms(self.lines[-3])

    @property
    def body(self) -> list[str]:
        """The terms of its main text."""
        return self._terms(self.lines[-2])

    @property
    def boilerplate(self) -> list[str]:
        """The terms of what stands beside that."""
        return self._terms(self.lines[-1])

    def _terms(self, line: NDArray[np.uint16]) -> list[str]:
        return list(map(self.vocabulary.__getitem__, line.tolist()))


def analyse(text: Text, rules: AnalyzerRules = NEWEST_ANALYZER) -> FieldTerms:
    """Cut a document's fields into the terms of its stem class, at most `LIMITS` of each."""
    address = (front_name(text.url) if rules.fronts_by_host else "") or text.url.partition("://")[2]
    written = [text.title[:MAX_LINE_CHARS], *(each[:MAX_LINE_CHARS] for each in text.headings[:MAX_HEADINGS])]
    written.append(text.body[:MAX_BODY_CHARS])
    others = [unquote(address[:MAX_LINE_CHARS], errors="replace"), text.boilerplate[:MAX_BODY_CHARS]]
    cut = list(map(pieces_of, written + others))
    pieces, found = numbered(chain.from_iterable(cut))
    ends = np.cumsum([0, *map(len, cut)])
    vocabulary, (title, *headings, body, url, boilerplate) = _terms_of(pieces, found, ends, class_of(text.language))
    kept, room = [title[: LIMITS[TITLE]]], LIMITS[HEADINGS]
    for heading in headings:
        if room and len(heading):
            kept.append(heading[:room])
            room -= len(kept[-1])
    kept += [url[: LIMITS[URL]], body[: LIMITS[BODY]], boilerplate[:BOILERPLATE_LIMIT]]
    if sum(map(len, kept)) < sum(map(len, (title, *headings, body, url, boilerplate))):
        vocabulary, kept = _without_unused(vocabulary, kept)
    own = int(found[: ends[len(written)]].max(initial=-1)) + 1  # pieces are numbered as they come
    return FieldTerms(vocabulary, [line.astype(np.uint16) for line in kept], list(islice(pieces, own)))


def numbered(items: Iterable[_Item]) -> tuple[Mapping[_Item, int], _Numbers]:
    """Number the distinct ones of some items in the order in which they come, and return the number of each item."""
    numbers = defaultdict[_Item, int]()
    numbers.default_factory = numbers.__len__
    found = np.fromiter(map(numbers.__getitem__, items), np.intp)
    numbers.default_factory = None  # it holds what holds it: all terms would wait for a rare collection of garbage
    return numbers, found


def _terms_of(
    pieces: Mapping[bytes, int], found: _Numbers, ends: _Numbers, stem_class: int
) -> tuple[Sequence[str], list[_Numbers]]:
    """Return a vocabulary, and the terms of each line by their places in it. `found`: the pieces of all lines; `ends`:
    where lines begin and end there."""
    terms, joined = look_up(pieces, stem_class)
    numbers, places = numbered(chain(chain.from_iterable(terms), chain.from_iterable(joined.values())))
    sizes = np.fromiter(map(len, terms), np.intp, len(terms))
    # Each piece has a run of `places`: these are put one after the other as the pieces stand in the lines.
    taken, starts = sizes[found], (sizes.cumsum() - sizes)[found]
    after = np.concatenate(([0], taken.cumsum()))
    whole = places[np.arange(after[-1]) + (starts - after[:-1]).repeat(taken)]
    bounds = after[ends].tolist()
    lines = [whole[start:end] for start, end in zip(bounds, bounds[1:], strict=False)]
    if joined:  # they stand after all others of their line
        forms = {pieces[piece]: [numbers[form] for form in made] for piece, made in joined.items()}
        more: dict[int, list[int]] = {}
        for place in np.isin(found, list(forms)).nonzero()[0].tolist():
            more.setdefault(bisect_right(ends, place) - 1, []).extend(forms[int(found[place])])
        for line, made in more.items():
            lines[line] = np.concatenate((lines[line], made))
    return list(numbers), lines


def _without_unused(vocabulary: Sequence[str], lines: Sequence[_Numbers]) -> tuple[Sequence[str], list[_Numbers]]:
    """Leave out terms that stand in no line any more."""
    used, places = np.unique(np.concatenate(lines), return_inverse=True)
    bounds = np.cumsum(list(map(len, lines)))[:-1]
    return [vocabulary[number] for number in used.tolist()], np.split(places, bounds)
