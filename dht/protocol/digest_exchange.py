"""In a PING and its PONG two nodes tell each other what the other lacks, so that all hear soon what concerns them.

Pure: members in, bodies out. The asker sends a digest of the heartbeats that it knows, its own heartbeat, rumours, and
to a near peer the newest others that fit. The answerer sends heartbeats that the digest lacks. Between near peers every
heartbeat counts; of a far one only what changes its standing, or refreshes a copy that has grown old. Pushing spreads
news fast while few know it, pulling ends it when most do, and no answer repeats what its asker has. Source: Demers et
al. 1987 (push-pull anti-entropy).

Rumours are heartbeats worth telling to whoever comes next: of peers that are new, back, or changed their standing.

Pure: members in, heartbeats out. A rumour is told a bounded number of times, then it is cold: who has missed it finds
it by comparing digests. Source: Demers et al. 1987 (rumour mongering, blind with a counter).
"""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import islice
from random import Random

from dht.admission.neighbourhood import PREFIXES, SMALL_NETWORK, WHOLE, IdRange
from dht.clock import Now
from dht.keys import NodeId
from dht.membership.digest_index import SEQUENCE, read_digest
from dht.membership.known_peer import KnownPeer
from dht.membership.member_table import MemberTable
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.rate_limit import remember
from dht.wire.packets import ROOM_BYTES, Ping

RUMOURS_LIMIT = 64  # rumours at a time; the newest push out the oldest
FEW_NEW = 3  # new peers in one packet; from here on it is we who are behind, and nobody needs to hear of them from us
FRAME_BYTES = 3  # msgpack frame of one heartbeat


class Rumours:
    """Keeps what one node still has to tell."""

    def __init__(self, members: MemberTable) -> None:
        self._members = members
        self._left: dict[NodeId, int] = {}  # how often it is to be told yet

    def add(self, peer: NodeId) -> None:
        """Tell the news of a peer from now on, so often that the chance that one of n nodes never hears it is small."""
        remember(self._left, peer, 1 + len(self._members).bit_length(), RUMOURS_LIMIT)

    def tell(self, partner: NodeId | None, room: int, told: set[NodeId]) -> list[bytes]:
        """Return the newest rumours that fit into `room` bytes; none is about `partner` or those in `told`, which
        grows."""
        found: list[bytes] = []
        for peer in list(reversed(self._left)):
            known = self._members.find(peer)
            if known is None:
                del self._left[peer]
            elif peer != partner and peer not in told and len(known.opened.raw) + FRAME_BYTES <= room:
                found.append(known.opened.raw)
                told.add(peer)
                room -= len(known.opened.raw) + FRAME_BYTES
                self._left[peer] -= 1
                if not self._left[peer]:
                    del self._left[peer]
            if room < FRAME_BYTES + 100:  # no heartbeat is shorter
                break
        return found

    def __len__(self) -> int:
        return len(self._left)


DIGEST_PEERS = SMALL_NETWORK  # 640 bytes
FAR_DIGEST_PEERS = 40  # of an arc in a larger network; leaves room for two heartbeats more
FAR_SHARE = 1 / 4  # of the exchanges with near peers that are about an arc of all ids
REFRESH_S = 600.0  # age at which a copy of a far peer's heartbeat is worth a newer one
FIELDS_BYTES = 40  # msgpack frames and numbers of a PING or PONG, at most
NEWEST = 32  # heartbeats looked at for a near partner
TURNED = 1 << 32  # added to the gap between sequences where content changed in it: such news goes first
NEAR = 1 << 34  # added where both are near
UNKNOWN = 1 << 35  # added for a peer of which the asker knows nothing


def make_ping(
    members: MemberTable,
    own: SelfHeartbeat,
    rumours: Rumours,
    partner: NodeId | None,
    now: Now,
    rng: Random,
    *,
    suspects: bytes = b"",
    behind: bool = False,
) -> Ping:
    """Make the PING that tells a peer what it may lack; `partner` is None where its id is not known yet. `behind`: we
    know few of many peers, and ask for others than near ones too."""
    near = partner is None or members.is_near(partner)
    block, first, end = _digested(members, rng, near=near and not behind)
    digest = members.digest_index.digest(first, end) + own.mark  # whoever knows a newer heartbeat of ours tells us
    room = ROOM_BYTES - FIELDS_BYTES - len(digest) - len(suspects)
    news = [own.raw] if own.raw else []  # a client has none
    room -= sum(len(n) + FRAME_BYTES for n in news)
    told: set[NodeId] = set()
    heard = rumours.tell(partner, room, told)
    news += heard
    room -= sum(len(n) + FRAME_BYTES for n in heard)
    if near:
        news += _newest(members, partner, now, room, told)
    return Ping(block.first, block.last, digest, tuple(news), suspects)


def make_answer(
    ping: Ping, asker: NodeId, members: MemberTable, own: SelfHeartbeat, rumours: Rumours, room: int
) -> tuple[bytes, ...]:
    """Return the heartbeats that are worth sending to the asker, as many as fit into `room` bytes."""
    theirs = sorted(read_digest(ping.digest))  # as good as sorted already
    block = IdRange(min(PREFIXES - 1, max(0, ping.first)), min(PREFIXES - 1, max(0, ping.last)))
    first, end = members.digest_index.span(block)
    near = members.near if members.is_near(asker) else members.neighbourhood_of(asker)
    news = _worthwhile(members, members.digest_index.newer(first, end, theirs), near)
    own_line = int.from_bytes(own.mark, "big")
    place = bisect_left(theirs, own_line)  # the first line with our prefix that has this sequence or a later one
    if own.raw and not (place < len(theirs) and theirs[place] <= own_line | SEQUENCE):
        news.insert(0, own.raw)
    fitting = _fit(news, room - FIELDS_BYTES)
    room -= FIELDS_BYTES + sum(len(raw) + FRAME_BYTES for raw in fitting)
    said = set(members.digest_index.ids(first, end)) if len(rumours) else set()
    return (*fitting, *rumours.tell(asker, room, said))


def worth(known: KnownPeer, theirs: int, *, near: bool) -> int:
    """Return how much a heartbeat is worth to an asker that has sequence `theirs` of it (0: none); 0: do not send it.
    `near`: the asker is near to its author. Sequences go by the second, so their gap is the age of the asker's copy."""
    gap = known.opened.sequence - theirs
    if gap <= 0:
        return 0
    if not theirs:
        return UNKNOWN + gap
    turned = TURNED if theirs < known.turned else 0
    if near:
        return NEAR + turned + gap
    return turned + gap if turned or gap >= REFRESH_S else 0


def _worthwhile(members: MemberTable, peers: Iterable[tuple[NodeId, int]], near: IdRange) -> list[bytes]:
    """The heartbeats worth sending to an asker of that neighbourhood, the worthiest first. `peers`: whom we know, and
    with which sequence the asker does."""
    wanted, first, last, find = list[tuple[int, int, bytes]](), near.first, near.last, members.find
    for peer, sequence in peers:
        if known := find(peer):
            opened = known.opened
            value = worth(known, sequence, near=first <= opened.prefix <= last)
            if value:
                wanted.append((value, opened.prefix, opened.raw))
    wanted.sort(reverse=True)
    return [raw for _, _, raw in wanted]


def _newest(members: MemberTable, partner: NodeId | None, now: Now, room: int, told: set[NodeId]) -> list[bytes]:
    """The last news of the live near peers: the partner may not have heard it yet."""
    news: list[bytes] = []
    for peer, known in islice(reversed(members.pools.near.items()), NEWEST):
        size = len(known.opened.raw) + FRAME_BYTES
        if size > room:
            break
        if peer != partner and peer not in told and members.is_live(peer, now):
            news.append(known.opened.raw)
            room -= size
    return news


def _fit(heartbeats: list[bytes], room: int) -> tuple[bytes, ...]:
    fitting = []
    for raw in heartbeats:
        if len(raw) + FRAME_BYTES <= room:
            fitting.append(raw)
            room -= len(raw) + FRAME_BYTES
    return tuple(fitting)


def _digested(members: MemberTable, rng: Random, *, near: bool) -> tuple[IdRange, int, int]:
    """The ids that the digest is about: all, the neighbourhood, or an arc of the ids; and the range of lines in it."""
    lines, block, most = members.digest_index, members.near, DIGEST_PEERS
    if len(lines) <= DIGEST_PEERS:
        return WHOLE, 0, len(lines)
    if not near or block == WHOLE or rng.random() < FAR_SHARE:
        block, most = WHOLE, DIGEST_PEERS if members.near == WHOLE else FAR_DIGEST_PEERS
    low, high = lines.span(block)
    if high - low <= most:
        return block, low, high
    start = low + rng.randrange(high - low + most - 1) - most + 1  # so that the ends are chosen as often as the middle
    first, end = max(low, start), min(high, start + most)
    left = lines.prefix(first) if start > low else block.first
    return IdRange(left, lines.prefix(end - 1) if end < high else block.last), first, end
