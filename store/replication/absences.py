"""Who is silent, since when, and whether that is its habit: a silent owner that will be back counts as a copy.

Pure: `now` is steady time in seconds. Since when a member is silent its last heartbeat says, whoever heard it: a laptop
that sleeps two thirds of the day still knows who has been away for longer. A member whose absences nobody knows is back
within five minutes if it is a stable machine, within sixteen hours if it is a laptop; one that came back three times,
within twice as long as nearly all of its absences took. A laptop that did not yet is taken to be as others are: nights
are alike, and where they last a little longer than sixteen hours each would be copied for nothing. This is one node's
own memory, kept from one run to the next (`habit_note.py`): it says when work is done, never who owns what. Where more
than a third of all fall silent within a minute, a cut or a power cut is likelier than so many deaths. Where more than
half of the laptops are away for longer than a night, a weekend is: until they are back no laptop is given up.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from dht import NodeId
from store.replication.habit_note import KEPT_PEERS, LONGEST_S, OTHERS, REMEMBERED, Habits

STABLE_S = 300.0  # a stable machine that restarts or updates itself is back by then
LAPTOP_S = 16 * 3600.0  # a laptop sleeps two thirds of a day
LAST_S = 20.0  # beside one live copy alone, an unknown stable machine counts for so long after it is known to be silent
RETURNS = 3  # absences that make a habit
MOST = 0.95  # of its absences are shorter than what is taken for its habit
CUT_WITHIN_S, CUT_LEAST, CUT_SHARE = 60.0, 3, 3  # so many, and more than one in three, within so long: a cut
CUT_S = 600.0  # for so long nothing is copied because of it
REST_LEAST, REST_SHARE = 3, 2  # so many laptops, and more than one in two, away for longer than a night: a weekend
REST_LOOK_S = 60.0  # between two looks for it
NOTICED_S = 30.0  # after its last heartbeat a near member is noticed to be silent, as dht/membership/liveness.py has it
HEARD_S = 60.0  # so long after a sleep, or a start, the others' newest heartbeats are still on their way


def unknown_s(peer: NodeId) -> float | None:
    """Say that nobody knows when a member was heard last."""
    return None


def all_stable(peer: NodeId) -> bool:
    """Say that all members are stable machines."""
    return True


class Absences:
    """Remembers one node's members: the silent ones, and how long each was away before."""

    def __init__(self) -> None:
        self._live: frozenset[NodeId] | None = None  # nobody looked yet, or not since this node slept
        self._since: dict[NodeId, float] = {}
        self._lasted: dict[NodeId, deque[float]] = {}
        self._nights: deque[float] = deque(maxlen=OTHERS)  # of all laptops
        self._lost: deque[tuple[float, NodeId]] = deque()  # of late
        self._cut_off: frozenset[NodeId] = frozenset()
        self._cut_until = self._heard_at = self._rest_until = self._rest_look_at = float("-inf")
        self._learns_at: float | None = None  # the silences that a node finds when it starts may be its own
        self._is_corrected = False  # what it took them for then
        self.learned = 0  # absences since the start

    def restore(self, habits: Habits) -> None:
        """Go by what was learned in an earlier run."""
        self._lasted = {peer: deque(lasted, maxlen=REMEMBERED) for peer, lasted in habits.lasted_s.items()}
        self._nights.extend(habits.nights_s)

    def habits(self) -> Habits:
        """Return what was learned, for the next run."""
        lasted = {peer: tuple(map(_whole_s, times)) for peer, times in self._lasted.items()}
        return Habits(lasted, tuple(map(_whole_s, self._nights)))

    def refresh(
        self,
        now: float,
        members: Iterable[NodeId],
        live: frozenset[NodeId],
        silent_s: Callable[[NodeId], float | None] = unknown_s,
        is_stable: Callable[[NodeId], bool] = all_stable,
    ) -> None:
        """Take note of who lives now; this node is left out of both. `silent_s`: since a member's last heartbeat;
        `is_stable`: whether it is no laptop."""
        known = frozenset(members)
        before = known if self._live is None else self._live  # a node that starts may be the first after a power cut
        for peer in sorted(self._since.keys() & live):
            self._came_back(now, peer, is_laptop=not is_stable(peer))
        self._correct(now, silent_s)
        self._forget_strangers(known)
        is_settled = now >= self._heard_at
        if is_settled and self._heard_at > float("-inf"):  # what was heard meanwhile says how long the others are away
            self._since, self._heard_at = {}, float("-inf")
        for peer in known - live - self._since.keys():
            last = silent_s(peer) if is_settled else None
            self._since[peer] = now - max(0.0, (last or 0.0) - NOTICED_S)
        self._since = {peer: since for peer, since in self._since.items() if peer in known - live}
        self._lost.extend((now, peer) for peer in sorted((before - live) & known))
        while self._lost and now - self._lost[0][0] > CUT_WITHIN_S:
            self._lost.popleft()
        lost = frozenset(peer for _, peer in self._lost) - live
        if len(lost) >= CUT_LEAST and len(lost) * CUT_SHARE > len(live) + 1 + len(lost):
            if not lost <= self._cut_off:
                self._cut_until = now + CUT_S
            self._cut_off |= lost
        self._cut_off -= live
        self._live = live
        self._notice_rest(now, known, is_stable)

    def _notice_rest(self, now: float, known: frozenset[NodeId], is_stable: Callable[[NodeId], bool]) -> None:
        """Whoever is back first from a weekend waits a night's length for the others, whose mornings come later."""
        if now < self._rest_look_at:
            return
        self._rest_look_at = now + REST_LOOK_S
        laptops = [peer for peer in known if not is_stable(peer)]
        night_s = self._night_s()
        away = sum(now - self._since.get(peer, now) > night_s for peer in laptops)
        if away >= REST_LEAST and away * REST_SHARE > len(laptops):
            self._rest_until = now + LAPTOP_S

    def _night_s(self) -> float:
        """For how long laptops are away at most, as a rule."""
        return max(LAPTOP_S, _usual_s(self._nights)) if len(self._nights) >= RETURNS else LAPTOP_S

    def _correct(self, now: float, silent_s: Callable[[NodeId], float | None]) -> None:
        """Soon after the start the newest heartbeats are here: only then they say since when the others are silent, and
        not for how long this node did not run."""
        if self._learns_at is None:
            self._learns_at = now + HEARD_S
        if self._is_corrected or now < self._learns_at:
            return
        self._is_corrected = True
        for peer, since in self._since.items():
            if (last := silent_s(peer)) is not None:
                self._since[peer] = max(since, now - max(0.0, last - NOTICED_S))

    def _came_back(self, now: float, peer: NodeId, *, is_laptop: bool) -> None:
        away_s = now - self._since.pop(peer)
        if self._learns_at is None or now < self._learns_at:
            return
        lasted = self._lasted.pop(peer, None) or deque(maxlen=REMEMBERED)
        lasted.append(away_s)
        self._lasted[peer] = lasted  # who came back last stands last
        self.learned += 1
        if is_laptop:
            self._nights.append(away_s)

    def _forget_strangers(self, known: frozenset[NodeId]) -> None:
        """Forget habits of who is no member, where they are too many; a node that starts has yet to hear of some."""
        if (excess := len(self._lasted) - KEPT_PEERS) > 0:
            for peer in [peer for peer in self._lasted if peer not in known][:excess]:
                del self._lasted[peer]

    def stood_still(self, now: float, slept_s: float = 0.0) -> None:
        """Take note that this node slept for so long: the silence that it finds says nothing of the others until it has
        heard of them, and nobody's return was seen. Who slept through a weekend knows that it was one."""
        if slept_s > self._night_s():
            self._rest_until = now + LAPTOP_S
        self._since, self._heard_at = {}, now + HEARD_S
        self._lost.clear()
        self._live = None

    def is_back_soon(self, now: float, peer: NodeId, *, is_stable: bool, is_urgent: bool) -> bool:
        """Tell whether a silent member is expected back. `is_urgent`: one copy is left, so that an unknown stable
        machine counts for no longer than it takes to be sure of its silence."""
        if not is_stable and now < self._rest_until:
            return True
        limit = self.expected_s(peer, is_stable=is_stable, is_urgent=is_urgent)
        return now - self._since.get(peer, now) < limit

    def expected_s(self, peer: NodeId, *, is_stable: bool, is_urgent: bool = False) -> float:
        """Return for how long a member may be silent until it is no longer expected back."""
        lasted, limit = self._lasted.get(peer, deque[float]()), STABLE_S if is_stable else LAPTOP_S
        if len(lasted) < RETURNS and not is_stable:
            lasted = self._nights
        if len(lasted) >= RETURNS:
            return max(limit, 2 * _usual_s(lasted))
        return LAST_S if is_urgent and is_stable else limit

    def waits(self, now: float) -> bool:
        """Tell whether so many fell silent together just now that nothing is copied because of them."""
        return now < self._cut_until and bool(self._cut_off)

    @property
    def is_cut(self) -> bool:
        """Whether some of those who fell silent together are silent still."""
        return bool(self._cut_off)


def _usual_s(lasted: Sequence[float]) -> float:
    """What nearly all absences took at most."""
    return sorted(lasted)[min(int(MOST * len(lasted)), len(lasted) - 1)]


def _whole_s(seconds: float) -> int:
    return min(max(0, round(seconds)), LONGEST_S)
