"""Which members are silent, and since when: a silent owner that will be back counts as a copy.

Pure: `now` is steady time in seconds. A member is silent since its last heartbeat, to whichever node that went. So even
a laptop that sleeps two thirds of the day can count how long other members were away. A silent stable machine is
expected back within four hours, a laptop within forty: fixed times, whose cost and risk docs/durability.md measures.
This is one node's own memory: it decides when work is done, never which node owns what. Where more than a third of all
fall silent within a minute, a cut or a power cut is likelier than so many deaths. If more than half of the laptops are
away for longer than a night, it is a weekend. Until they are back no laptop is given up.
"""

from collections import deque
from collections.abc import Callable, Iterable

from dht import NodeId

STABLE_S = 4 * 3600.0  # a stable machine that is repaired, moved or cut off is back by then
LAPTOP_S = 40 * 3600.0  # a laptop misses a day of work, and no more
NIGHT_S = 16 * 3600.0  # a laptop sleeps two thirds of a day
LAST_S = 20.0  # beside one copy alone a stable machine counts for so long after its silence is noticed
CUT_WITHIN_S, CUT_LEAST, CUT_SHARE = 60.0, 3, 3  # so many, and more than one in three, within so long: a cut
CUT_S = 600.0  # for so long nothing is copied because of it
REST_LEAST, REST_SHARE = 3, 2  # so many laptops, and more than one in two, away for longer than a night: a weekend
REST_LOOK_S = 60.0  # between two looks for it
NOTICED_S = 30.0  # after its last heartbeat a near member is noticed to be silent, as dht/membership/liveness.py has it
HEARD_S = 60.0  # so long after a sleep, or a start, the others' newest heartbeats are still on their way


class Absences:
    """Remembers the silent ones of one node's members."""

    def __init__(self) -> None:
        self._live: frozenset[NodeId] | None = None  # nobody looked yet, or not since this node slept
        self._since: dict[NodeId, float] = {}
        self._lost: deque[tuple[float, NodeId]] = deque()  # of late
        self._cut_off: frozenset[NodeId] = frozenset()
        self._cut_until = self._heard_at = self._rest_until = self._rest_look_at = float("-inf")
        self._corrects_at: float | None = None  # the silences that a node finds when it starts may be its own
        self._is_corrected = False

    def refresh(
        self,
        now: float,
        members: Iterable[NodeId],
        live: frozenset[NodeId],
        silent_s: Callable[[NodeId], float | None],
        is_stable: Callable[[NodeId], bool],
    ) -> None:
        """Take note of the members that live now; this node is left out of both. `silent_s`: since a member's last
        heartbeat; `is_stable`: whether it is no laptop."""
        known = frozenset(members)
        before = known if self._live is None else self._live  # a node that starts may be the first after a power cut
        self._since = {peer: since for peer, since in self._since.items() if peer in known - live}
        self._correct(now, silent_s)
        is_settled = now >= self._heard_at
        if is_settled and self._heard_at > float("-inf"):  # what was heard meanwhile says how long the others are away
            self._since, self._heard_at = {}, float("-inf")
        for peer in known - live - self._since.keys():
            last = silent_s(peer) if is_settled else None
            self._since[peer] = now - max(0.0, (last or 0.0) - NOTICED_S)
        self._notice_cut(now, before, known, live)
        self._live = live
        self._notice_rest(now, known, is_stable)

    def _notice_cut(
        self, now: float, before: frozenset[NodeId], known: frozenset[NodeId], live: frozenset[NodeId]
    ) -> None:
        self._lost.extend((now, peer) for peer in sorted((before - live) & known))
        while self._lost and now - self._lost[0][0] > CUT_WITHIN_S:
            self._lost.popleft()
        lost = frozenset(peer for _, peer in self._lost) - live
        if len(lost) >= CUT_LEAST and len(lost) * CUT_SHARE > len(live) + 1 + len(lost):
            if not lost <= self._cut_off:
                self._cut_until = now + CUT_S
            self._cut_off |= lost
        self._cut_off -= live

    def _notice_rest(self, now: float, known: frozenset[NodeId], is_stable: Callable[[NodeId], bool]) -> None:
        """The first to be back from a weekend waits a night's length for the others, whose mornings come later."""
        if now < self._rest_look_at:
            return
        self._rest_look_at = now + REST_LOOK_S
        laptops = [peer for peer in known if not is_stable(peer)]
        away = sum(now - self._since.get(peer, now) > NIGHT_S for peer in laptops)
        if away >= REST_LEAST and away * REST_SHARE > len(laptops):
            self._rest_until = now + NIGHT_S

    def _correct(self, now: float, silent_s: Callable[[NodeId], float | None]) -> None:
        """Soon after the start the newest heartbeats are here: only then they say since when the others are silent, and
        not for how long this node did not run."""
        if self._corrects_at is None:
            self._corrects_at = now + HEARD_S
        if self._is_corrected or now < self._corrects_at:
            return
        self._is_corrected = True
        for peer, since in self._since.items():
            if (last := silent_s(peer)) is not None:
                self._since[peer] = max(since, now - max(0.0, last - NOTICED_S))

    def stood_still(self, now: float, slept_s: float = 0.0) -> None:
        """Take note that this node slept for so long: the silence that it finds says nothing of the others until their
        heartbeats came. After a sleep of more than a night it was a weekend."""
        if slept_s > NIGHT_S:
            self._rest_until = now + NIGHT_S
        self._since, self._heard_at = {}, now + HEARD_S
        self._lost.clear()
        self._live = None

    def is_back_soon(self, now: float, peer: NodeId, *, is_stable: bool, is_last: bool = False) -> bool:
        """Tell whether a silent member is expected back. `is_last`: one copy is left, so that a stable machine counts
        for no longer than it takes to be sure of its silence."""
        if not is_stable:
            return now < self._rest_until or now - self._since.get(peer, now) < LAPTOP_S
        return now - self._since.get(peer, now) < (LAST_S if is_last else STABLE_S)

    def waits(self, now: float) -> bool:
        """Tell whether so many fell silent together just now that nothing is copied because of them."""
        return now < self._cut_until and bool(self._cut_off)

    @property
    def is_cut(self) -> bool:
        """Whether some of those who fell silent together are silent still."""
        return bool(self._cut_off)
