"""A document cut into terms once, for all that is made of them: what an engine indexes, its forward record, its sketch.

Pure: the same document gives the same terms everywhere. Each term is looked at once, however often the document says
it: where terms stand is told by numbers.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from index.change_feed import Text
from index.text import text_leaf
from index.text.analyzer import terms
from index.text.analyzer_rules import NEWEST_ANALYZER, AnalyzerRules
from index.text.site_host import front_name, shorter_names
from index.text.stem_classes import class_of
from index.text.text_leaf import Limits

TITLE, HEADINGS, URL, BODY = range(4)
BOILERPLATE_LIMIT = 8_000  # a menu of more terms is a list of URLs
MAX_HEADINGS = 64
MAX_LINE_CHARS = 4096  # of a title, a heading, an address
MAX_BODY_CHARS = 400_000  # what 20,000 long words need; a body of megabytes is not worth analysing

Places = NDArray[np.uint16]  # of terms in a vocabulary


@dataclass(frozen=True, slots=True)
class FieldTerms:
    """The terms of a document in order, as their places in its vocabulary."""

    vocabulary: list[str]  # each of its terms once, in the order in which they come
    places: Places  # of all terms
    lines: Sequence[Places]  # its parts: title, each heading, address, main text, all else

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

    def _terms(self, line: Places) -> list[str]:
        return list(map(self.vocabulary.__getitem__, line.tolist()))


def analyse(text: Text, rules: AnalyzerRules = NEWEST_ANALYZER) -> FieldTerms:
    """Cut a document's fields into the terms of its stem class, as many of each as the analyzer keeps."""
    title = text.title[:MAX_LINE_CHARS]
    lines = (
        title,
        *(heading[:MAX_LINE_CHARS] for heading in text.headings[:MAX_HEADINGS]),
        unquote(_address_of(text.url, title)[:MAX_LINE_CHARS], errors="replace"),
        text.body[:MAX_BODY_CHARS],
        text.boilerplate[:MAX_BODY_CHARS],
    )
    cut = text_leaf.leaf.cut_lines if text_leaf.leaf else cut_lines
    vocabulary, numbers, lengths = cut(lines, (*rules.limits, BOILERPLATE_LIMIT), class_of(text.language))
    places, ends = np.frombuffer(numbers, np.uint16), accumulate(lengths, initial=0)
    return FieldTerms(vocabulary, places, [places[start:end] for start, end in pairwise(ends)])


def _address_of(url: str, title: str) -> str:
    """An address as it is analysed: that of a front page is its host's name, and shorter names of the site."""
    host = front_name(url)
    return " ".join((host, *shorter_names(host, title))) if host else url.partition("://")[2]


def cut_lines(lines: Sequence[str], limits: Limits, stem_class: int) -> tuple[list[str], bytes, list[int]]:
    """Cut a title, headings, an address, main text and all else into terms. Return the vocabulary, the place of each
    term in it (u16 each), and how many terms each line has; headings without any are left out."""
    room = limits[HEADINGS]
    found = [terms(lines[TITLE], limits[TITLE], stem_class)]
    for heading in lines[1:-3]:
        if cut := terms(heading, room, stem_class):
            found.append(cut)
            room -= len(cut)
    found += (terms(line, limit, stem_class) for line, limit in zip(lines[-3:], limits[-3:], strict=True))
    numbers = defaultdict[str, int]()
    numbers.default_factory = numbers.__len__
    places = np.fromiter(map(numbers.__getitem__, chain.from_iterable(found)), np.uint16, sum(map(len, found)))
    numbers.default_factory = None  # it holds what holds it: all terms would wait for a rare collection of garbage
    return list(numbers), places.tobytes(), list(map(len, found))
