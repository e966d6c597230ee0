"""What two nodes tell each other in a PING and its PONG, so that all hear every heartbeat soon.

Pure: members in, bodies out. The asker sends a digest of what it knows, its own heartbeat and the newest others that
fit; the answerer sends what the digest lacks. Pushing spreads news fast while few know it, pulling ends it when most
do, and no answer repeats what its asker has. Source: Demers et al. 1987 (push-pull anti-entropy).
"""

from operator import itemgetter
from struct import unpack

from dht.chance import Rng
from dht.clock import Now
from dht.herald import Herald
from dht.keys import NodeId
from dht.members import Known, Members
from dht.packets import ROOM_BYTES, Ping

DIGEST_PEERS = 80  # 640 bytes; in larger networks each PING is about one arc of the ids
FIELDS_BYTES = 32  # msgpack frames and numbers of a PING or PONG, at most
FRAME_BYTES = 3  # msgpack frame of one heartbeat
PREFIXES = 1 << 32
TURNED = 1 << 32  # added to the gap between sequences where content changed in it: such news goes first


def make_ping(members: Members, herald: Herald, partner: NodeId | None, now: Now, rng: Rng) -> Ping:
    """What to tell a peer; `partner` is None where its id is not known yet."""
    first, last, marks = _digest(members, rng)
    marks.append(herald.mark)  # whoever knows a newer heartbeat of ours tells us
    room = ROOM_BYTES - FIELDS_BYTES - 8 * len(marks)
    news = [herald.raw] if herald.raw else []
    room -= sum(len(n) + FRAME_BYTES for n in news)
    for peer, known in members.known():
        size = len(known.opened.raw) + FRAME_BYTES
        if size > room:
            break
        if peer != partner and members.is_live(peer, now):
            news.append(known.opened.raw)
            room -= size
    return Ping(first, last, b"".join(marks), tuple(news))


def make_answer(ping: Ping, members: Members, herald: Herald, room: int) -> tuple[bytes, ...]:
    """The heartbeats that the asker lacks, as fit into `room` bytes: unknown peers, changes, the stalest."""
    theirs = _read_digest(ping.digest)
    wanted: list[tuple[int, bytes]] = []
    for _, known in members.known():
        opened = known.opened
        has = theirs.get(opened.prefix, 0)
        if has < opened.sequence and ping.first <= opened.prefix <= ping.last:
            wanted.append((opened.sequence - has + (TURNED if has < known.turned else 0), opened.raw))
    wanted.sort(key=itemgetter(0), reverse=True)
    own_prefix, own_sequence = int.from_bytes(herald.mark[:4], "big"), int.from_bytes(herald.mark[4:], "big")
    if herald.raw and theirs.get(own_prefix, 0) < own_sequence:
        wanted.insert(0, (0, herald.raw))
    return _fit([raw for _, raw in wanted], room - FIELDS_BYTES)


def _fit(heartbeats: list[bytes], room: int) -> tuple[bytes, ...]:
    fitting = []
    for raw in heartbeats:
        if len(raw) + FRAME_BYTES <= room:
            fitting.append(raw)
            room -= len(raw) + FRAME_BYTES
    return tuple(fitting)


def _digest(members: Members, rng: Rng) -> tuple[int, int, list[bytes]]:
    """First and last id prefix of an arc, and the marks of the peers known in it."""
    if len(members) <= DIGEST_PEERS:
        return 0, PREFIXES - 1, [known.opened.mark for _, known in members.known()]
    ordered: list[tuple[NodeId, Known]] = sorted(members.known())
    start = rng.randrange(len(ordered))
    arc = ordered[start : start + DIGEST_PEERS]
    first = int.from_bytes(arc[0][0][:4], "big") if start else 0
    last = int.from_bytes(arc[-1][0][:4], "big") if start + DIGEST_PEERS < len(ordered) else PREFIXES - 1
    return first, last, [known.opened.mark for _, known in arc]


def _read_digest(digest: bytes) -> dict[int, int]:
    """Id prefix → sequence; whatever is left over at the end is ignored."""
    numbers = unpack(f">{len(digest) // 8 * 2}I", digest[: len(digest) // 8 * 8])
    return dict(zip(numbers[::2], numbers[1::2], strict=True))
