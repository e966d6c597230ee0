"""Says which former versions of a page are kept: the newest few, and of older ones fewer the older they are.

Pure: instants in, instants out. All owners of a page go by the same policy of the strategy, on the same days. Whatever
part of the versions each of them has, what they keep of all together is what any would keep of all: so owners that
exchange what they keep end alike, in any order. With time only more is dropped, never something else.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

MOST_DAYS = 3650
DAY_MS = 86_400_000
# Of the versions in a span of so many days, which begins at a multiple of that since 1970, the newest is kept, once the
# whole span is so many days old. Each span lies within one of the wider ones.
SPANS = ((64, 365), (8, 32), (1, 0))


class VersionPolicy(NamedTuple):
    """How many former versions of a page are kept: the newest `last` of them, and older ones thinned out, all for
    `days`; 0 days: none."""

    last: int = 0
    days: int = 0

    @property
    def keeps_any(self) -> bool:
        """Whether former versions are kept at all."""
        return self.days > 0

    def kept(self, instants: Iterable[int], today: int, erased_upto: int = -1) -> frozenset[int]:
        """Return those instants (Unix milliseconds) whose versions are kept on a day (since 1970). All up to
        `erased_upto` are erased."""
        found = sorted({at for at in instants if at > erased_upto and self.is_young(at, today)}, reverse=True)
        newest: dict[tuple[int, int], int] = {}
        for at in found[self.last :]:
            newest.setdefault(_span(at // DAY_MS, today), at)
        return frozenset((*found[: self.last], *newest.values()))

    def is_young(self, at_ms: int, today: int) -> bool:
        """Tell whether a version of an instant is young enough to be kept on a day."""
        return self.keeps_any and at_ms // DAY_MS + self.days >= today


def newest_of_authors(instants: Mapping[bytes, int], author_of: Callable[[bytes], bytes]) -> set[bytes]:
    """Return those of a page's versions that count: of one author's versions of one day (UTC) the newest. So members
    that conspire cannot push the versions of others out by writing many of their own.

    `instants`: by the name of each version, Unix milliseconds. `author_of` is asked about days with several versions
    alone. Days begin at the same instants everywhere, so what counts does not depend on the order in which owners get
    the versions."""
    days, counting = defaultdict[int, list[bytes]](list), set[bytes]()
    for name in sorted(instants, key=lambda name: (instants[name], name)):
        days[instants[name] // DAY_MS].append(name)
    for names in days.values():
        counting |= {*({author_of(name): name for name in names}.values() if len(names) > 1 else names)}
    return counting


def _span(day: int, today: int) -> tuple[int, int]:
    """The span, by its length and its first day, of which one version is kept."""
    for length, age in SPANS[:-1]:
        first = day - day % length
        if first + length + age <= today:
            return length, first
    return 1, day
