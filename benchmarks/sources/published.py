"""Holds what the sources measured, and makes rows of ours beside it.

Pure: values only. The machines of 2006 were commodity PCs; those of 2018 are not described in what we have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.figures import Row, row


@dataclass(frozen=True, slots=True)
class Published:
    """Figures of a source by its number of machines. `is_rate`: more is better; else they are seconds of one job."""

    source: str
    unit: str
    values: Mapping[int, float]
    is_rate: bool = True

    def speed_up(self, machines: int) -> float:
        """Return how many times as fast so many machines were as one."""
        return speed_up(self.values[1], self.values[machines], self.is_rate)


# Li Wei, "Design and implementation of a distributed search engine", USTC, May 2006, tables 10 and 11
PAGES_2006 = Published("2006", "pages/min", {1: 16, 2: 38, 3: 42})
KB_2006 = Published("2006", "KB/min", {1: 783, 2: 2041, 3: 2335})
# Li Yanchen, Ai Qingzhong, Wang Shaofei, "Distributed search engine on Redis", 2018: 708 pages of 25,600 KB, and sites
PAGES_2018, KB_2018, SITES_2018 = 708, 25_600, 35_602
CRAWLED_2018 = Published("2018", "pages/s", {1: 5.385, 2: 10.992, 3: 14.118, 4: 17.079})
INDEXED_2018 = Published("2018", "pages/s", {1: 4.262, 2: 6.661, 3: 7.775, 4: 8.514})
RANKED_2018 = Published("2018", "s", {1: 963.955, 2: 754.473, 3: 648.617, 4: 584.876}, is_rate=False)


def speed_up(one: float, many: float, is_rate: bool) -> float:
    """Return how many times as fast the second of two rates, or of two times, is."""
    return many / one if is_rate else one / many


def beside(what: str, ours: Mapping[int, Sequence[float]], published: Published) -> list[Row]:
    """Return the rows of our values, one a round, and of their ratio to one machine's, both beside a source's."""
    found = []
    for machines in sorted(ours.keys() & published.values.keys()):
        about = f"{what}, by {machines}; peer: {published.source}"
        found.append(row(about, ours[machines], published.unit, peer=[published.values[machines]]))
        if machines > 1:
            ratios = [speed_up(a, b, published.is_rate) for a, b in zip(ours[1], ours[machines], strict=True)]
            found.append(row(f"as fast as one: {about}", ratios, "×", peer=[published.speed_up(machines)]))
    return found
