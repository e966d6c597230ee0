"""Datagrams of the overlay are packets: this file lays down their bytes, and who may have written them.

Pure: bytes to values and back. A packet is at most 1232 bytes (IPv6's least MTU less headers, as in DNS):

    version 1 · kind 1 · network 4 · transaction 8 · sender's public key 32 · strategy version 4 · strategy digest 8 ·
    body length 2 · body (msgpack array) · zeros up to the wished size · MAC 16

The MAC is BLAKE2b over all before it, keyed by the X25519 secret of both nodes' keys. In a PING to an unknown node, and
there alone, sixteen zeros stand in its place. Every packet carries the sender's key, so there are no sessions to set
up, resume or exhaust. Requests are padded and answers never longer, so nobody gains by a forged source; PUT needs the
token of an earlier answer to the same address.

The sealed content of packets that carry small messages: the question of the asker, and the answer to it.

Pure: values only. Both are msgpack arrays; `about` binds them to one transaction of one sender.
"""

import struct
from enum import IntEnum
from hashlib import blake2b
from hmac import compare_digest
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from dht.errors import MALFORMED, BadMessage

PACKET_LIMIT = 1232
VERSION = 1
MAC_BYTES = 16
NO_MAC = bytes(MAC_BYTES)
HEADER = struct.Struct(">BB4s8s32sI8sH")
ROOM_BYTES = PACKET_LIMIT - HEADER.size - MAC_BYTES  # for a body
TOKEN_BYTES = 8
MAX_TURNS = 15  # how often one question is sent at most, less one
MAX_PARTS = 32  # of an answer, some 36 KB; what is longer goes over TLS
WINDOW = 10  # parts sent at once: 12 KB, as a new TCP connection may (RFC 6928)
PART_BYTES = ROOM_BYTES - 24  # of a sealed answer in one packet; the rest is for the numbers
QUESTION_BYTES = ROOM_BYTES - 24  # of a sealed question


class PacketKind(IntEnum):
    """Names the kinds of packets; an answer's number is its request's plus one."""

    PING = 1
    PONG = 2
    FIND = 3
    FOUND = 4
    GET = 5
    GOT = 6
    PUT = 7
    STORED = 8
    INTRODUCE = 9
    INTRODUCED = 10
    PUNCH = 11
    PUNCHED = 12
    QUESTION = 13
    PART = 14

    @property
    def is_answer(self) -> bool:
        """Whether a packet of this kind answers another one."""
        return self % 2 == 0

    @property
    def answer(self) -> "PacketKind":
        """The kind that answers this one."""
        return PacketKind(self + 1)


class Ping(msgspec.Struct, frozen=True, array_like=True):
    """Offers news and asks for it. `digest`: 8 bytes for each peer that the sender knows with an id prefix in first …
    last: 4 bytes of id, 4 of sequence. `heartbeats`: signed, the sender's own first. `suspects`: 4 bytes of the id of
    each peer that lately did not answer the sender."""

    first: int
    last: int
    digest: bytes
    heartbeats: tuple[bytes, ...]
    suspects: bytes = b""


class Pong(msgspec.Struct, frozen=True, array_like=True):
    """Brings the heartbeats that the digest of a PING lacked, and the packed address and port from which it seemed to
    come. `suspects` are as in PING."""

    seen: tuple[bytes, int]
    heartbeats: tuple[bytes, ...]
    suspects: bytes = b""


class PackedContact(msgspec.Struct, frozen=True, array_like=True):
    """Names a contact in an answer, unsigned: public key and endpoints. The node at those endpoints proves its key by
    the MAC."""

    public_key: bytes
    endpoints: tuple[tuple[bytes, int, int], ...]


class Find(msgspec.Struct, frozen=True, array_like=True):
    """Asks who is nearest to a point."""

    target: bytes


class Found(msgspec.Struct, frozen=True, array_like=True):
    """Brings the nearest contacts, nearest first, and a token for PUT from the asking address."""

    contacts: tuple[PackedContact, ...]
    token: bytes


class Get(msgspec.Struct, frozen=True, array_like=True):
    """Asks which records lie at a point, from the `skip`-th on: one answer holds few."""

    target: bytes
    skip: int = 0


class Got(msgspec.Struct, frozen=True, array_like=True):
    """Brings signed small records, the newest of each author as far as they fit, then contacts as in FOUND."""

    records: tuple[bytes, ...]
    contacts: tuple[PackedContact, ...]
    token: bytes


class Put(msgspec.Struct, frozen=True, array_like=True):
    """Asks a node to keep a signed small record."""

    token: bytes
    record: bytes


class Stored(msgspec.Struct, frozen=True, array_like=True):
    """Says whether the record, or a newer one, lies here now."""

    ok: bool


class Introduce(msgspec.Struct, frozen=True, array_like=True):
    """Asks an introducer to have `target`, a node behind a NAT, send something to where this packet comes from. A node
    that names itself asks to be introduced to others from now on. `tcp_port`: from which the asker dials the target
    and to which it wants to be dialled, 0 where datagrams will do."""

    target: bytes
    tcp_port: int = 0


class Introduced(msgspec.Struct, frozen=True, array_like=True):
    """Says whether the introducer knows a way to the target, and has told it."""

    ok: bool


class Punch(msgspec.Struct, frozen=True, array_like=True):
    """Reports to a node behind a NAT that an asker wants to reach it.

    `public_key`: the asker's; empty where the introducer itself asks.
    `seen`: the packed address and port where the introducer saw the asker; empty likewise.
    `tcp_port`: as in INTRODUCE."""

    public_key: bytes
    seen: tuple[bytes, int]
    tcp_port: int = 0


class Punched(msgspec.Struct, frozen=True, array_like=True):
    """Says whether the node sends something to the asker."""

    ok: bool


class Question(msgspec.Struct, frozen=True, array_like=True):
    """Carries a small message, sealed. It is repeated under one transaction until all parts of the answer are there.

    `turn`: the number of the repetition, from 0.
    `have`: a bit for each part that has arrived.
    `token`: the token that came with those parts."""

    turn: Annotated[int, Meta(ge=0, le=MAX_TURNS)]
    have: Annotated[int, Meta(ge=0, lt=1 << MAX_PARTS)]
    token: Annotated[bytes, Meta(max_length=TOKEN_BYTES)]
    sealed: bytes


class Part(msgspec.Struct, frozen=True, array_like=True):
    """Carries one of the `total` parts of a sealed answer, sent on the question's `turn`; all have the same `token`."""

    turn: Annotated[int, Meta(ge=0, le=MAX_TURNS)]
    token: Annotated[bytes, Meta(min_length=TOKEN_BYTES, max_length=TOKEN_BYTES)]
    number: Annotated[int, Meta(ge=0, lt=MAX_PARTS)]
    total: Annotated[int, Meta(ge=1, le=MAX_PARTS)]
    data: bytes


Body = (
    Ping | Pong | Find | Found | Get | Got | Put | Stored | Introduce | Introduced | Punch | Punched | Question | Part
)
_BODIES: tuple[type[Body], ...] = (
    *(Ping, Pong, Find, Found, Get, Got, Put, Stored),
    *(Introduce, Introduced, Punch, Punched),
    *(Question, Part),
)
_DECODERS = {PacketKind(n): msgspec.msgpack.Decoder(body) for n, body in enumerate(_BODIES, 1)}
_KINDS = {body: PacketKind(n) for n, body in enumerate(_BODIES, 1)}
_KIND_OF = {int(kind): kind for kind in PacketKind}
_NUMBERS = {body: n for n, body in enumerate(_BODIES, 1)}
_encoder = msgspec.msgpack.Encoder()


class Packet(msgspec.Struct, frozen=True, gc=False):
    """Holds a packet whose form is right; its sender is proved by `is_from` only."""

    kind: PacketKind
    network: bytes
    transaction: bytes
    public_key: bytes
    strategy_version: int
    strategy_digest: bytes
    body: bytes
    data: bytes
    has_mac: bool


class PacketHeader(NamedTuple):
    """Holds what every packet of a node says besides its body; `strategy_digest` is the first 8 bytes."""

    network: bytes
    public_key: bytes
    strategy_version: int
    strategy_digest: bytes


def kind_of(body: Body) -> PacketKind:
    """Return the kind of packet that carries such a body."""
    return _KINDS[type(body)]


def body_size(body: Body) -> int:
    """Return how many bytes a body has on the wire."""
    return len(_encoder.encode(body))


def encode_packet(header: PacketHeader, transaction: bytes, body: Body, key: bytes | None, *, size: int = 0) -> bytes:
    """Return a datagram, padded to `size` bytes; `key`: shared with the recipient, None where it is not known."""
    encoded = _encoder.encode(body)
    network, public_key, version, digest = header
    number = _NUMBERS[type(body)]
    start = HEADER.pack(VERSION, number, network, transaction, public_key, version, digest, len(encoded))
    data = (start + encoded).ljust(size - MAC_BYTES, b"\0")
    if len(data) + MAC_BYTES > PACKET_LIMIT:
        raise ValueError(f"packet of {len(data) + MAC_BYTES} bytes, {PACKET_LIMIT} is the limit")
    return data + (_mac(key, data) if key is not None else NO_MAC)


def decode_packet(data: bytes) -> Packet:
    """Read the outer form of a packet; raises BadMessage. The body is decoded apart, once the sender is proved."""
    if not HEADER.size + MAC_BYTES <= len(data) <= PACKET_LIMIT:
        raise BadMessage("", f"packet of {len(data)} bytes")
    version, number, network, transaction, public_key, strategy_version, digest, length = HEADER.unpack_from(data)
    kind = _KIND_OF.get(number)
    if version != VERSION or kind is None:
        raise BadMessage("", f"packet of version {version}, kind {number}")
    if HEADER.size + length + MAC_BYTES > len(data):
        raise BadMessage("", f"body of {length} bytes in a packet of {len(data)}")
    body = data[HEADER.size : HEADER.size + length]
    has_mac = data[-MAC_BYTES:] != NO_MAC
    return Packet(kind, network, transaction, public_key, strategy_version, digest, body, data, has_mac)


def decode_body(packet: Packet) -> Body:
    """Read the body of a packet; raises BadMessage."""
    try:
        return _DECODERS[packet.kind].decode(packet.body)
    except MALFORMED as error:
        raise BadMessage(packet.public_key.hex()[:16], f"{packet.kind.name} does not decode: {error}") from error


def is_from(packet: Packet, key: bytes) -> bool:
    """Tell whether the holder of the other half of the shared key wrote a packet."""
    return compare_digest(_mac(key, packet.data[:-MAC_BYTES]), packet.data[-MAC_BYTES:])


def _mac(key: bytes, data: bytes) -> bytes:
    return blake2b(data, key=key, digest_size=MAC_BYTES, person=b"dse-node packet").digest()


class Verdict(IntEnum):
    """Says what became of a message."""

    ANSWERED = 0
    REFUSED = 1  # the body is one line of text that says why
    BY_TLS = 2  # it has to be asked over TLS: its answer is too long for packets, or it is not to be asked in them


class AskedMessage(msgspec.Struct, frozen=True, array_like=True):
    """Holds a message by its name, and the asker's wall clock: an old one that somebody recorded is not answered."""

    at: float
    name: Annotated[str, Meta(max_length=64)]
    body: bytes


class ToldMessage(msgspec.Struct, frozen=True, array_like=True):
    """Holds the encoded answer, or why there is none."""

    verdict: Verdict
    body: bytes


def about(kind: int, network: bytes, transaction: bytes, public_key: bytes) -> bytes:
    """Return what sealed bytes belong to: the kind of packet, the network, the transaction and the sender's key."""
    return bytes([kind]) + network + transaction + public_key
