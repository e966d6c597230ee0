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
from index.text.analyzer import terms
from index.text.analyzer_rules import NEWEST_ANALYZER, AnalyzerRules
from index.text.site_host import front_name
from index.text.stem_classes import class_of

TITLE, HEADINGS, URL, BODY = range(4)
BOILERPLATE_LIMIT = 8_000  # a menu of more terms is a list of URLs
MAX_HEADINGS = 64
MAX_LINE_CHARS = 4096  # of a title, a heading, an address
MAX_BODY_CHARS = 400_000  # what 20,000 long words need; a body of megabytes is not worth analysing

Places = NDArray[np.uint16]  # of terms in a vocabulary


@dataclass(frozen=True, slots=True)
class FieldTerms:
    """The terms of a document in order, as their places in its vocabulary."""

    vocabulary: Sequence[str]  # each of its terms once, in the order in which they come
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
    """Cut a document's fields into the terms of its stem class, as many of each as the analyzer keeps. The address of a
    front page is its host name alone."""
    stem_class, limits = class_of(text.language), rules.limits
    address, room = front_name(text.url) or text.url.partition("://")[2], limits[HEADINGS]
    found = [terms(text.title[:MAX_LINE_CHARS], limits[TITLE], stem_class)]
    for heading in text.headings[:MAX_HEADINGS]:
        if cut := terms(heading[:MAX_LINE_CHARS], room, stem_class):
            found.append(cut)
            room -= len(cut)
    found += (
        terms(unquote(address[:MAX_LINE_CHARS], errors="replace"), limits[URL], stem_class),
        terms(text.body[:MAX_BODY_CHARS], limits[BODY], stem_class),
        terms(text.boilerplate[:MAX_BODY_CHARS], BOILERPLATE_LIMIT, stem_class),
    )
    return _numbered(found)


def _numbered(lines: Sequence[Sequence[str]]) -> FieldTerms:
    numbers = defaultdict[str, int]()
    numbers.default_factory = numbers.__len__
    places = np.fromiter(map(numbers.__getitem__, chain.from_iterable(lines)), np.uint16, sum(map(len, lines)))
    numbers.default_factory = None  # it holds what holds it: all terms would wait for a rare collection of garbage
    ends = accumulate(map(len, lines), initial=0)
    return FieldTerms(list(numbers), places, [places[start:end] for start, end in pairwise(ends)])
