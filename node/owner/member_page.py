"""Chooses which members of the network a page shows, in which order, and sums up what they need.

Pure: the members as this node hears them in, a page out. However many there are, a page has MOST_ROWS of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from node.api.peers import Peer

MOST_ROWS = 50
MOST_NAMED = 8  # members that are named beside a need

Order = Literal["trouble", "name", "load", "disk", "room", "due", "heard"]
ORDERS: tuple[Order, ...] = get_args(Order)


@dataclass(frozen=True, slots=True)
class NeedSeen:
    """Says of one topic how many members need their owners for it, and names the first of them."""

    topic: str
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemberPage:
    """Holds the members of one page, how many match the search and how many there are in all, and what they need.
    `after`: where the next page begins, 0 where this is the last. `room`, `used`: bytes, of all that say so. `live`
    counts all that are, `needy` those of them that need their owners."""

    rows: tuple[Peer, ...]
    matching: int
    all: int
    after: int
    needs: tuple[NeedSeen, ...]
    room: int
    used: int
    live: int
    needy: int


def member_page(peers: Sequence[Peer], search: str, order: Order, start: int) -> MemberPage:
    """Return the page of members that begins at `start` of those in whose name, id or addresses `search` stands."""
    matching = chosen_members(peers, search, order)
    rows = tuple(matching[start : start + MOST_ROWS])
    more = start + MOST_ROWS
    live = [peer for peer in peers if peer.live]
    return MemberPage(
        rows,
        len(matching),
        len(peers),
        more if more < len(matching) else 0,
        _needs(live),
        sum(peer.room_bytes for peer in live),
        sum(peer.room_bytes * peer.load.disk // 100 for peer in live),
        len(live),
        sum(bool(peer.needs) for peer in live),
    )


def chosen_members(peers: Sequence[Peer], search: str, order: Order | None) -> list[Peer]:
    """Return the members in whose words `search` stands, in an order, or (None) in that in which they are given."""
    sought = search.casefold()
    found = [peer for peer in peers if not sought or any(sought in word.casefold() for word in _words(peer))]
    return sorted(found, key=lambda peer: (_ORDERS[order](peer), peer.node_id)) if order else found


def short_name(peer: Peer) -> str:
    """Return how a member is called where room is short."""
    return peer.name or peer.node_id[:12]


def _words(peer: Peer) -> list[str]:
    return [peer.name, peer.node_id, peer.state, *peer.needs, *(endpoint.host for endpoint in peer.endpoints)]


def _needs(live: Sequence[Peer]) -> tuple[NeedSeen, ...]:
    by_topic: dict[str, list[str]] = {}
    for peer in live:
        for topic in peer.needs:
            by_topic.setdefault(topic, []).append(short_name(peer))
    ordered = sorted(by_topic.items(), key=lambda each: (-len(each[1]), each[0]))
    return tuple(NeedSeen(topic, len(names), tuple(sorted(names)[:MOST_NAMED])) for topic, names in ordered)


def _trouble(peer: Peer) -> Any:
    """Put silent members first, then those that need their owners."""
    return peer.live, not peer.needs, short_name(peer).casefold()


_ORDERS: dict[Order, Callable[[Peer], Any]] = {
    "trouble": _trouble,
    "name": lambda peer: short_name(peer).casefold(),
    "load": lambda peer: -peer.load.cpu,
    "disk": lambda peer: -peer.load.disk,
    "room": lambda peer: -peer.room_bytes,
    "due": lambda peer: -peer.due,
    "heard": lambda peer: -peer.last_heard_s,
}
