"""A heartbeat is a node's signed word of who it is, where it is reached and what it is ready for.

Pure: values and their codec. On the wire it is the 64-byte signature, then the msgpack array of the fields. The
network's id is part of the signed domain, so a heartbeat means nothing in another network. The newest sequence
of an author wins; a heartbeat is a membership until it expires, and a sign of life for 30 s (liveness.py).
"""

import ipaddress
from functools import lru_cache
from typing import NamedTuple

import msgspec

from dht.clock import Now
from dht.config import NAME_BYTES, OPERATOR_BYTES
from dht.errors import MALFORMED, AddressNotAllowed, BadMessage, BadSignature, TooLittleWork
from dht.identity.node_key import Identity, node_id_of, verify
from dht.identity.puzzle import work_of
from dht.keys import KEY_BYTES, MAX_SLOT_BITS, NodeId, Slot
from dht.slot_set import check_slots, decode_positions, decode_slots
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Contact, Endpoint, Family
from dht.wire.farewell import Farewell, is_signed_farewell
from dht.wire.heartbeat_cache import HeartbeatCache
from dht.wire.invitation import INVITED_BY_BYTES
from dht.wire.room_step import RoomStep, are_steps, read_room_step

HEARTBEAT_LIMIT_BYTES = 1000  # a packet of 1232 bytes holds one with its header
# How long a silent machine stays an owner of its slots before it counts as gone. Strategies that say nothing use these.
STABLE_GRACE_S = 12 * 3600.0  # a server
LAPTOP_GRACE_S = 72 * 3600.0  # laptops sleep over weekends; by the durability model three replicas need 72 h
MOST_GRACE_S = 30 * 86400.0  # the longest that any strategy may set
REFUSES_BYTES = 64
MOST_INTRODUCERS = 3  # 20 bytes each; one may fail while another is asked
MOST_NEEDS = 2  # named in one heartbeat
MARK_BYTES = 8  # of an id, by which an attester names it: nobody makes a second identity that begins alike
DAY_BYTES = 2  # of a day since 1970, beside a mark
MOST_ATTESTED = 16  # marks in one heartbeat, nearly twice as many as come from peers that each ask nine
AHEAD_LIMIT_S = 120.0  # a clock further ahead than this could keep its heartbeat fresh for ever

AUTHOR = slice(64, 101)  # where the public key stands, after the signature and the heads of array and key

DOMAIN = b"heartbeat\0"


class Load(msgspec.Struct, frozen=True, array_like=True):
    """Says how busy a node is: shares of processor, memory, disk quota and bandwidth in use, 0 to 100."""

    cpu: int = 0
    memory: int = 0
    disk: int = 0
    network: int = 0


class Condition(msgspec.Struct, frozen=True, array_like=True):
    """Says how a node is, in its own word, which only people read: nothing is decided by it.

    `state` and `needs` are codes of `node/owner/condition.py`, one byte each; `room` is its quota in GiB."""

    state: int = 0
    needs: bytes = b""
    room: int = 0


class Heartbeat(msgspec.Struct, frozen=True, array_like=True):
    """Holds the fields of one sign of life. `endpoints`: packed address, UDP port, TCP port; one a family, v4 first.

    `sequence` only grows; it starts at the wall clock's second, so it also grows across restarts. `ready` is a slot set
    of 2**slot_bits slots, `leased` and `stored_only` are sets of positions within it. `due`: URLs that wait to be
    fetched here. `member` is false for a bare bootstrap node, which owns nothing.
    """

    public_key: bytes
    sequence: int
    sent_at: float
    expires_at: float
    endpoints: tuple[tuple[bytes, int, int], ...]
    stable: bool = True
    member: bool = True
    strategy_version: int = 0
    slot_bits: int = 8
    ready: bytes = b""
    leased: bytes = b""
    due: int = 0
    load: Load = Load()
    operator: str = ""  # who runs it, as declared; owners of a slot are of different operators where there are enough
    nonce: int = 0  # the identity's puzzle, solved
    leaving: bool = False  # it stops: not live from now on, a member until its grace is over
    refuses: bytes = b""  # hashes of hosts that it will not fetch, 4 bytes each
    introducers: tuple[bytes, ...] = ()  # ids of those who tell it, behind its NAT, who wants to reach it
    attests: bytes = b""  # marks of the peers that it has reached itself, by datagram and connection (admission.py)
    attested_days: bytes = b""  # since when it names each of them, two bytes a mark: days since 1970
    invited_by: bytes = b""  # the beginnings of its voucher's id and inviter's key, and when that was made
    for_good: bool = False  # it is leaving the network: it owns nothing, and serves until others have its slots
    farewell: Farewell | None = None  # it stops cleanly, or has started again, and has no vote as long as it says so
    stored_only: bytes = b""  # the slots of `ready` that it stores and does not index: it answers no queries for them
    name: str = ""  # what its owner calls it
    condition: Condition = Condition()
    steps: int = 0  # the room that it takes part with, and took part with before; room_step.py reads both numbers
    steps_hour: int = 0  # from which hour the new step counts

    @property
    def node_id(self) -> NodeId:
        """The id of the heartbeat's author."""
        return node_id_of(self.public_key)

    @property
    def contact(self) -> Contact:
        """The author's id and endpoints; raises ValueError where an endpoint is none."""
        introducers = tuple(NodeId(each) for each in self.introducers)
        return Contact(self.node_id, tuple(unpack_endpoint(e) for e in self.endpoints), introducers)

    @property
    def ready_slots(self) -> frozenset[Slot]:
        """The slots the author is ready for, decoded at each call: kept sets would let four bytes hold megabytes."""
        return decode_slots(self.ready, self.slot_bits)

    @property
    def leased_slots(self) -> frozenset[Slot]:
        """The slots that the author says it holds."""
        return decode_positions(self.leased, self.ready_slots, self.slot_bits)

    @property
    def room_step(self) -> RoomStep:
        """The steps of room that it says, with the hour of the change."""
        return read_room_step(self.steps, self.steps_hour, self.sent_at)

    @property
    def stored_only_slots(self) -> frozenset[Slot]:
        """The slots that the author stores and does not index."""
        return decode_positions(self.stored_only, self.ready_slots, self.slot_bits)


class Graces(NamedTuple):
    """Says how many seconds a silent server and a silent machine that sleeps stay members, by the strategy."""

    stable_s: float = STABLE_GRACE_S
    laptop_s: float = LAPTOP_GRACE_S

    def of(self, stable: bool) -> float:
        """Return the grace of a node by what it says of itself."""
        return self.stable_s if stable else self.laptop_s


GRACES = Graces()


class VerifiedHeartbeat(msgspec.Struct, frozen=True):
    """Holds a verified heartbeat with what follows from it, computed once however often gossip brings it."""

    raw: bytes
    heartbeat: Heartbeat
    contact: Contact
    families: frozenset[Family]
    prefix: int  # first 4 bytes of the id
    sequence: int
    line: int  # of a digest: both, 32 bits each
    claims: bytes  # what it says that a peer may act on; all else changes with every heartbeat


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Heartbeat)
_opened = HeartbeatCache["VerifiedHeartbeat"]()


@lru_cache(maxsize=8192)
def pack_endpoint(endpoint: Endpoint) -> tuple[bytes, int, int]:
    """Return an endpoint as it stands in a heartbeat: (address, 4 or 16 bytes; UDP port; TCP port). Raises ValueError
    where its host is no literal address."""
    return ipaddress.ip_address(endpoint.host).packed, endpoint.udp_port, endpoint.tcp_port


@lru_cache(maxsize=8192)
def unpack_endpoint(packed: tuple[bytes, int, int]) -> Endpoint:
    """Read the wire form; raises ValueError where address or ports are none."""
    return Endpoint(str(ipaddress.ip_address(packed[0])), packed[1], packed[2])


def sign_heartbeat(identity: Identity, heartbeat: Heartbeat, network: bytes) -> bytes:
    """Return the signed wire form; raises ValueError above 1000 bytes, which `heartbeat_fit` prevents."""
    body = _encoder.encode(heartbeat)
    data = identity.sign(DOMAIN + network, body) + body
    if len(data) > HEARTBEAT_LIMIT_BYTES:
        raise ValueError(f"heartbeat of {len(data)} bytes, {HEARTBEAT_LIMIT_BYTES} is the limit")
    return data


def open_heartbeat(
    data: bytes, now: Now, network: bytes, policy: AddressPolicy, graces: Graces = GRACES, puzzle_bits: int = 0
) -> VerifiedHeartbeat:
    """Verify a heartbeat; raises BadSignature, or BadMessage for malformed, future, expired or unreachable ones.

    Raises AddressNotAllowed or TooLittleWork, both BadMessage, where the policy forbids an address, or its identity has
    less than `puzzle_bits` behind it. Its author's strategy may be another version, so it expires when `graces`, the
    reader's, say so at the latest.
    """
    opened = open_heartbeat_once(data, network, policy, puzzle_bits)
    check_time(opened, now, graces)
    return opened


def check_time(opened: VerifiedHeartbeat, now: Now, graces: Graces) -> None:
    """Check what time can change about a heartbeat: raises BadMessage where it is of the future, or has expired."""
    heartbeat = opened.heartbeat
    if heartbeat.sent_at > now.wall + AHEAD_LIMIT_S:
        ahead_s = heartbeat.sent_at - now.wall
        raise BadMessage(opened.contact.node_id.hex(), f"heartbeat is {ahead_s:.0f} s ahead of this node's clock")
    if is_overdue(opened, now, graces):
        raise BadMessage(opened.contact.node_id.hex(), "heartbeat has expired")


def is_overdue(opened: VerifiedHeartbeat, now: Now, graces: Graces) -> bool:
    """Tell whether a heartbeat has expired by itself or by the reader's graces."""
    beat = opened.heartbeat
    return beat.expires_at <= now.wall or beat.sent_at + graces.of(beat.stable) <= now.wall


def read_heartbeat(raw: bytes, heartbeat: Heartbeat) -> VerifiedHeartbeat:
    """Compute what follows from a heartbeat's fields; raises ValueError for bad endpoints, BadMessage for bad slot
    sets."""
    contact = heartbeat.contact
    check_slots(heartbeat.ready, heartbeat.slot_bits)
    check_slots(heartbeat.leased, heartbeat.slot_bits)
    check_slots(heartbeat.stored_only, heartbeat.slot_bits)
    prefix, sequence = int.from_bytes(contact.node_id[:4], "big"), heartbeat.sequence
    line = prefix << 32 | sequence
    return VerifiedHeartbeat(raw, heartbeat, contact, contact.families, prefix, sequence, line, _claims(heartbeat))


def _claims(beat: Heartbeat) -> bytes:
    """Encoded, so that comparing them is comparing bytes."""
    stands = beat.endpoints, beat.introducers, beat.operator, beat.stable, beat.member, beat.leaving, beat.for_good
    return _encoder.encode(
        (
            stands,
            beat.farewell,
            beat.attests,
            beat.attested_days,
            beat.invited_by,
            beat.strategy_version,
            beat.slot_bits,
            beat.ready,
            beat.leased,
            beat.stored_only,
            beat.steps,
            beat.steps_hour,
        )
    )


def open_heartbeat_once(data: bytes, network: bytes, policy: AddressPolicy, puzzle_bits: int) -> VerifiedHeartbeat:
    """Verify a heartbeat of any age: all checks that time cannot change; raises as `open_heartbeat`."""
    author, key = data[AUTHOR], (data, network, policy, puzzle_bits)
    if (known := _opened.find(author, key)) is None:
        known = _verified(data, network, policy, puzzle_bits)
        _opened.add(author, key, known)
    return known


def fits(opened: VerifiedHeartbeat, policy: AddressPolicy, puzzle_bits: int) -> bool:
    """Tell whether a heartbeat that was verified by other rules holds by these."""
    beat = opened.heartbeat
    is_proven = not puzzle_bits or work_of(beat.public_key, beat.nonce) >= puzzle_bits
    return is_proven and all(policy.allows(endpoint.host) for endpoint in opened.contact.endpoints)


def _verified(data: bytes, network: bytes, policy: AddressPolicy, puzzle_bits: int) -> VerifiedHeartbeat:
    if len(data) > HEARTBEAT_LIMIT_BYTES:
        raise BadMessage("", f"heartbeat of {len(data)} bytes, {HEARTBEAT_LIMIT_BYTES} is the limit")
    try:
        heartbeat = _decoder.decode(data[64:])
    except MALFORMED as error:
        raise BadMessage("", f"heartbeat does not decode: {error}") from error
    reason = _flaw(heartbeat)
    if reason:
        raise BadMessage(node_id_of(heartbeat.public_key).hex(), f"heartbeat {reason}")
    if puzzle_bits and work_of(heartbeat.public_key, heartbeat.nonce) < puzzle_bits:  # much cheaper than a signature
        raise TooLittleWork(heartbeat.node_id.hex(), f"its identity has less than {puzzle_bits} bits of work behind it")
    if not verify(DOMAIN + network, heartbeat.public_key, data[64:], data[:64]):
        raise BadSignature("heartbeat", "not signed by the key in it for this network")
    said = heartbeat.farewell
    if said is not None and not (said.public_key == heartbeat.public_key and is_signed_farewell(said, network)):
        raise BadSignature("farewell", "not signed by the heartbeat's author for this network")
    try:
        opened = read_heartbeat(data, heartbeat)
    except ValueError as error:
        raise BadMessage(heartbeat.node_id.hex(), f"heartbeat with a bad endpoint: {error}") from error
    for endpoint in opened.contact.endpoints:
        if not policy.allows(endpoint.host):
            reason = f"heartbeat names the address {endpoint.host}, which this network does not allow"
            raise AddressNotAllowed(heartbeat.node_id.hex(), reason)
    return opened


def _flaw(heartbeat: Heartbeat) -> str:
    """Return which field of a heartbeat breaks its bound, as the end of an error text; "" where none does."""
    sizes = [len(host) for host, _, _ in heartbeat.endpoints]
    if sizes not in ([4], [16], [4, 16]):
        return "needs one endpoint a family, IPv4 first"
    if not 0 < heartbeat.sequence < 1 << 32:
        return f"with sequence {heartbeat.sequence}"
    if not 0 < heartbeat.expires_at - heartbeat.sent_at <= MOST_GRACE_S + 1:
        return "lives longer than any grace"
    if not 0 <= heartbeat.slot_bits <= MAX_SLOT_BITS or not 0 <= heartbeat.strategy_version < 1 << 32:
        return "with a strategy version or slot_bits out of range"
    if len(heartbeat.refuses) > REFUSES_BYTES or len(heartbeat.refuses) % 4:
        return "with refused hosts out of range"
    if len(heartbeat.introducers) > MOST_INTRODUCERS or any(len(each) != KEY_BYTES for each in heartbeat.introducers):
        return "with introducers out of range"
    if len(heartbeat.attests) > MOST_ATTESTED * MARK_BYTES or len(heartbeat.attests) % MARK_BYTES:
        return "with attested peers out of range"
    if len(heartbeat.attested_days) not in (0, len(heartbeat.attests) // MARK_BYTES * DAY_BYTES):
        return "with days of attested peers out of range"
    if len(heartbeat.invited_by) not in (0, INVITED_BY_BYTES):
        return "with the mark of an invitation out of range"
    if len(heartbeat.operator.encode()) > OPERATOR_BYTES or not 0 <= heartbeat.nonce < 1 << 64:
        return "with an operator or a nonce out of range"
    said = heartbeat.condition
    if len(said.needs) > MOST_NEEDS or not (0 <= said.state < 128 and 0 <= said.room < 1 << 16):
        return "with a condition out of range"
    if not are_steps(heartbeat.steps, heartbeat.steps_hour):
        return "with a step of room out of range"
    if len(heartbeat.name.encode()) > NAME_BYTES:
        return "with a name out of range"
    if not 0 <= heartbeat.due < 1 << 32 or not all(0 <= n <= 100 for n in msgspec.structs.astuple(heartbeat.load)):
        return "with a load out of range"
    return ""
