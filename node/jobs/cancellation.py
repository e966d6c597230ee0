"""Ends crawls: writes for URLs that wait the outcome "cancelled", and takes that back where a new crawl asks for them.
It also has known URLs fetched again now.

Only the holder of a slot's lease writes outcomes. So a node cancels what waits in its own slots; a node that is alone
in its network cancels all. An outcome outlasts a restart, and passes to the next holder with the slot.
`seed_publisher.py` asks the holders of other slots to fetch known URLs again.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from crawl import Visit, VisitState
from dht import Clock, Key, NodeId, Overlay, Slot, slot_of
from node.api.crawl import Followed

CANCELLED = "cancelled by the owner"
NOT_BEFORE_S = 365 * 86_400.0  # then the page itself may be fetched, and no link is followed from it
NEWER_S = 0.002  # a frontier takes the visit of the later instant: so much makes one newer

Find = Callable[[Sequence[str]], Awaitable[Mapping[str, Visit]]]
Record = Callable[[Sequence[tuple[Visit, int]]], Awaitable[None]]
"""Writes outcomes, each under the lease epoch of its slot."""


class Cancellation:
    """Gives up URLs that wait in the slots whose leases this node holds. `place`: where a URL's records live."""

    def __init__(self, find: Find, record: Record, place: Callable[[str], Key], overlay: Overlay, clock: Clock) -> None:
        self._find, self._record, self._place = find, record, place
        self._overlay, self._clock = overlay, clock

    async def give_up(self, urls: Sequence[str]) -> int:
        """Give up those of some URLs that wait, and return how many that are. Raises RemoteError."""
        now = self._clock().wall
        waiting = [visit for visit in (await self._find(urls)).values() if visit.state == VisitState.WAITING]
        said = {"state": VisitState.REFUSED, "reason": CANCELLED, "depth": 0}
        return await self._write(replace(visit, **said, visited_at=now, due_at=now + NOT_BEFORE_S) for visit in waiting)

    async def take_up(self, asked: Iterable[Followed]) -> int:
        """Have cancelled URLs fetched after all, with the depth and scope of a new crawl; return how many that are."""
        now = self._clock().wall
        return await self._write(Visit(each.url, each.depth, scope=each.scope, visited_at=now) for each in asked)

    async def make_due(self, asked: Sequence[Followed], rested_s: float) -> int:
        """Have known URLs of the held slots fetched again now, with the depth and scope of a job; return how many that
        are. Those that wait, were cancelled, or were visited less than `rested_s` ago, stay as they are. Raises
        RemoteError."""
        now, known = self._clock().wall, await self._find([each.url for each in asked])
        old = [(each, known[each.url]) for each in asked if each.url in known]
        return await self._write(
            replace(visit, depth=each.depth, scope=each.scope, visited_at=visit.visited_at + NEWER_S, due_at=now)
            for each, visit in old
            if visit.state != VisitState.WAITING and visit.reason != CANCELLED and visit.visited_at + rested_s <= now
        )

    def held_elsewhere(self, asked: Sequence[Followed]) -> Mapping[NodeId | None, Sequence[Followed]]:
        """Return the URLs whose slots this node does not hold, by holder; None: nobody says that it holds the slot."""
        view, found = self._overlay.view, dict[NodeId | None, list[Followed]]()
        leases, bits = view.leases(), view.strategy.slot_bits
        for each in asked:
            slot = slot_of(self._place(each.url), bits)
            if slot not in leases:
                found.setdefault(next(iter(view.announced(slot)), None), []).append(each)
        return found

    async def _write(self, visits: Iterable[Visit]) -> int:
        view = self._overlay.view
        leases, bits = view.leases(), view.strategy.slot_bits
        slots: list[tuple[Visit, Slot]] = [(visit, slot_of(self._place(visit.url), bits)) for visit in visits]
        outcomes = [(visit, leases[slot]) for visit, slot in slots if slot in leases]
        if outcomes:
            await self._record(outcomes)
        return len(outcomes)
