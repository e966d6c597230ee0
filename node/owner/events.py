"""Turns what a node needs of its owner, as it is judged every few seconds, into events: one when a need begins, one
when it is over.

Pure: `now` is passed in. A need begins when it has lasted, and is over when it has been fine for a while; what lies
between changes nothing. An event that was told before a restart is not told again where the node comes back within an
hour.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import msgspec

from dht import Now
from node.owner.needs import TOPICS, OwnerNeed

# How long a need lasts before it is told; others last by their own definition.
LASTS_S = {"clock": 60.0, "heartbeat": 60.0, "disk": 30.0, "machine": 30.0}
CALM_S = 300.0  # of all being fine before it is over: a disk that is cleaned up fills again, peers come and go
REMEMBERED_S = 3600.0  # over a restart

EventState = Literal["begins", "over"]


class ToldNeed(msgspec.Struct, frozen=True):
    """Remembers a need that its owner was told of.
    `since`: when it began, in Unix seconds.
    `text`: the sentence that the owner was told.
    `about`: the names that it concerns.
    `after`: the sentence for its end."""

    since: float
    text: str
    about: tuple[str, ...] = ()
    after: str = ""

    def over(self, topic: str, wall: float) -> "OwnerEvent":
        """Return the event of its end."""
        return OwnerEvent(topic, "over", self.after or self.text, self.since, wall)


class ToldNote(msgspec.Struct, frozen=True):
    """Holds what outlasts a restart: the needs that were told, and when they were last seen (Unix seconds)."""

    seen_at: float
    told: dict[str, ToldNeed]


@dataclass(frozen=True, slots=True)
class OwnerEvent:
    """Tells the owner that a need begins or is over; instants are Unix seconds."""

    topic: str
    state: EventState
    text: str
    since: float
    at: float

    def json(self) -> dict[str, Any]:
        """Return the event for programs."""
        return asdict(self)


class OwnerEvents:
    """Remembers what the owner was told, and says what is new."""

    def __init__(self, note: bytes = b"", wall: float = 0.0) -> None:
        """`note`: what `note` returned in an earlier run; one that is damaged, or too old at `wall`, counts as none."""
        self._told: dict[str, ToldNeed] = _read(note, wall)
        self._since: dict[str, tuple[str, float]] = {}  # topic → the state that lasts (trouble or fine), steady seconds
        self._seen: dict[tuple[str, str], float] = {}  # topic and name → when it was last in trouble, steady seconds

    @property
    def told(self) -> Mapping[str, ToldNeed]:
        """The needs that were told and are not over."""
        return self._told

    def step(self, needs: Iterable[OwnerNeed], now: Now) -> list[OwnerEvent]:
        """Return what is new at `now`."""
        return [event for need in needs if (event := self._follow(need, now)) is not None]

    def note(self, wall: float) -> bytes:
        """Return what an earlier run's successor should know."""
        return msgspec.json.encode(ToldNote(wall, self._told))

    def _follow(self, need: OwnerNeed, now: Now) -> OwnerEvent | None:
        state, since = self._since.get(need.topic, ("", now.steady))
        if state != need.state:
            self._since[need.topic] = need.state, (since := now.steady)
        self._seen |= {(need.topic, name): now.steady for name in need.about}
        lasted_s, before = now.steady - since, self._told.get(need.topic)
        if need.state == "trouble" and before is None and lasted_s >= LASTS_S.get(need.topic, 0.0):
            self._told[need.topic] = ToldNeed(now.wall, need.text, need.about, need.after)
            return OwnerEvent(need.topic, "begins", need.text, now.wall, now.wall)
        if need.state == "fine" and before is not None and lasted_s >= CALM_S:
            del self._told[need.topic]
            return before.over(need.topic, now.wall)
        return self._follow_names(need, before, now) if before is not None else None

    def _follow_names(self, need: OwnerNeed, told: ToldNeed, now: Now) -> OwnerEvent | None:
        """Follow the things that a told need is about. One more is news, also one that has been fine for a while and
        is back; a need whose things have all been fine for a while is over."""
        about = tuple(n for n in told.about if now.steady - self._seen.setdefault((need.topic, n), now.steady) < CALM_S)
        more = tuple(name for name in need.about if name not in about)
        if told.about and not about + more:
            del self._told[need.topic]
            return told.over(need.topic, now.wall)
        text = need.text if more else told.text
        self._told[need.topic] = ToldNeed(told.since, text, about + more, need.after or told.after)
        return OwnerEvent(need.topic, "begins", text, told.since, now.wall) if more else None


def _read(note: bytes, wall: float) -> dict[str, ToldNeed]:
    try:
        read = msgspec.json.decode(note, type=ToldNote)
    except msgspec.DecodeError:
        return {}
    is_recent = abs(wall - read.seen_at) <= REMEMBERED_S
    return {topic: told for topic, told in read.told.items() if topic in TOPICS} if is_recent else {}
