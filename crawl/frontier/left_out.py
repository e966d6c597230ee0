"""Keeps account of the URLs that the frontier leaves out of memory: by slot, when the first of them is due.

Pure. A frontier that is full leaves out what is due from the *horizon* on. When a URL that was left out is due, all
visits of its slot are read again from the replica. Those due within AHEAD_S are taken up. So a slot is read once in
AHEAD_S, or as often as REST_S lets where more URLs are due than memory holds.
"""

from collections.abc import Callable
from math import inf

from msgspec.structs import replace

from crawl.schedule.url_state import Visit
from dht import Slot

AHEAD_S = 21_600.0  # reading the visits of 10⁶ pages takes some 20 s of CPU
REST_S = 0.001  # for each visit that was read, until its slot is read again: some 2 % of the processor
REVIEWED_WITHIN_S = 3_600.0  # one reading of a slot serves all that is to be reviewed in it
MOST_REVIEWS, MOST_WANTED, MOST_REPEATS = 256, 1_000, 4_096

IsDue = Callable[[Visit], bool]


class LeftOut:
    """The slots of which URLs are left out."""

    def __init__(self) -> None:
        self._first: dict[Slot, float] = {}
        self._horizon = inf
        self._taken: Slot | None = None  # the slot whose visits are being read, or were read last
        self._read = 0  # of its visits
        self._rest_until: dict[Slot, float] = {}
        self._reviews: dict[Slot, dict[str, IsDue]] = {}
        self._wanted: dict[str, None] = {}
        self._lately: dict[str, float] = {}  # URLs that were left out last, and when they had been visited

    def __len__(self) -> int:
        """Count these slots."""
        return len(self._first)

    @property
    def horizon(self) -> float:
        """Return the instant (Unix seconds) from which on URLs are left out."""
        return self._horizon if self._first else inf

    def due_count(self, until: float) -> int:
        """Count the slots of which URLs are left out that are due by then."""
        return sum(first <= until for first in self._first.values())

    def add(self, slot: Slot, visit: Visit) -> None:
        """Note that a URL is left out."""
        self._first[slot] = min(visit.due_at, self._first.get(slot, inf))
        self._lately[visit.url] = visit.visited_at
        if len(self._lately) > MOST_REPEATS:
            del self._lately[next(iter(self._lately))]

    def remove(self, url: str) -> None:
        """Note that a URL is in memory again."""
        self._lately.pop(url, None)

    def leave_from(self, horizon: float) -> None:
        """Leave out what is due from then on; at least one URL has been left out already."""
        self._horizon = horizon

    def has(self, visit: Visit) -> bool:
        """Tell whether this very visit was left out lately: its holder hears of it a second time from the replica."""
        return self._lately.get(visit.url) == visit.visited_at

    def forget(self, slot: Slot) -> None:
        """Note that a slot is not held any more."""
        for by_slot in (self._first, self._reviews, self._rest_until):
            by_slot.pop(slot, None)
        self._lately.clear()

    def take(self, now: float) -> Slot | None:
        """Return the slot of which a URL has been due for longest, None where none is due. Its URLs count as taken up
        from now on, unless they are added again."""
        if self._taken is not None and self._read:
            self._rest_until[self._taken], self._read = now + REST_S * self._read, 0
        due = [
            (first, slot) for slot, first in self._first.items() if max(first, self._rest_until.get(slot, 0.0)) <= now
        ]
        if not due:
            return None
        slot = min(due)[1]
        if self._taken is not None and slot != self._taken:
            self._reviews.pop(self._taken, None)
        self._taken, self._horizon = slot, now + AHEAD_S
        del self._first[slot]
        return slot

    def look_again(self) -> None:
        """Have the visits of all these slots read soon."""
        self._first = dict.fromkeys(self._first, 0.0)

    def review(self, beginning: str, slot: Slot | None, is_due: IsDue, now: float) -> None:
        """Have those URLs made due that begin so and of which `is_due` says so; those of one slot, or (None) all. It is
        done within REVIEWED_WITHIN_S where memory has room."""
        for each in list(self._first) if slot is None else self._first.keys() & {slot}:
            self._first[each] = min(self._first[each], now + REVIEWED_WITHIN_S)
            reviews = self._reviews.setdefault(each, {})
            reviews[beginning] = is_due
            if len(reviews) > MOST_REVIEWS:
                del reviews[next(iter(reviews))]

    def reviewed(self, slot: Slot, visit: Visit) -> Visit:
        """Return a visit that is taken up, due at once where a review says so."""
        self._read += 1
        reviews = self._reviews.get(slot)
        if reviews and any(visit.url.startswith(start) and is_due(visit) for start, is_due in reviews.items()):
            return replace(visit, due_at=0.0)
        return visit

    def want(self, url: str) -> None:
        """Have a URL fetched at once if it is left out."""
        if self._first and len(self._wanted) < MOST_WANTED:
            self._wanted[url] = None

    def take_wanted(self) -> list[str]:
        """Return the URLs that are to be fetched at once, each once, and forget them."""
        wanted, self._wanted = list(self._wanted), {}
        return wanted
