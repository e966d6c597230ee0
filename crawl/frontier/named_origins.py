"""Counts which other origins the first pages of one origin name: as their canonical address, or by links.

Pure: names in, counts out; bounded memory.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from crawl.frontier.mirror_alias import origin_of, twin_of

MOST_PAGES, _MOST_LINKED = 32, 64


@dataclass(slots=True)
class NamedOrigins:
    """The origins that pages of one origin name, each with how many of `pages` pages do."""

    pages: int = 0
    canonical: Counter[str] = field(default_factory=Counter)
    linked: Counter[str] = field(default_factory=Counter)

    def learn(self, url: str, canonical: str, others: Iterable[str]) -> None:
        """Count what one page names: its canonical URL ("": none), where that is its twin, and the other origins that
        it links to. Only the first MOST_PAGES pages count."""
        if self.pages >= MOST_PAGES:
            return
        self.pages += 1
        if canonical and canonical == twin_of(url, origin_of(canonical)) != url:
            self.canonical[origin_of(canonical)] += 1
        self.linked.update(others)
        if len(self.linked) > _MOST_LINKED:
            self.linked = Counter(dict(self.linked.most_common(_MOST_LINKED // 2)))
