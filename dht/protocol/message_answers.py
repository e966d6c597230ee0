"""Small messages that come in packets are answered once, in as many parts as it takes, again and again.

Pure: `now` is an argument. An answer is kept for as long as its asker may lack a part; a repeated question costs no
more than the packets that bring the rest. To an address that has not shown that it receives, no more is sent than came
from it: the first part, whose token the asker then repeats.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from dht.clock import Now
from dht.errors import MALFORMED, BadMessage
from dht.identity.node_key import SEAL_BYTES, Identity, node_id_of, seal, unseal
from dht.keys import NodeId
from dht.protocol.message_questions import Send
from dht.protocol.network_rules import NetworkRules
from dht.wire.contact import Address
from dht.wire.packets import (
    HEADER,
    MAC_BYTES,
    MAX_PARTS,
    PART_BYTES,
    TOKEN_BYTES,
    WINDOW,
    AskedMessage,
    Packet,
    PacketKind,
    Part,
    Question,
    ToldMessage,
    Verdict,
    about,
    body_size,
)

WINDOW_S = 120.0  # the clocks of both sides may differ by so much, as for requests over TLS
KEPT_S = 15.0  # an answer, for questions that repeat
MAX_WORKING, MAX_WORKING_OF_ONE = 256, 16  # questions without an answer yet; one more is left to its repetition
LONGEST_BYTES = MAX_PARTS * PART_BYTES - SEAL_BYTES - 16  # of an answer; the 16 are for msgpack
MAX_KEPT_BYTES = 8 << 20  # of all answers; the oldest are forgotten, and worked out again if need be


class OpenMessage(NamedTuple):
    """Names a question that waits for its answer, and who asks what."""

    public_key: bytes
    transaction: bytes
    asker: NodeId
    host: str
    message: AskedMessage


@dataclass(slots=True)
class _Kept:
    """One question and, when it is there, its answer in parts."""

    source: Address
    question: Question
    room: int  # bytes that the question's packet had
    is_proven: bool  # whether its address is known to receive what is sent there
    until: float
    parts: tuple[bytes, ...] = ()
    size: int = 0


class MessageAnswers:
    """Answers the small messages that other nodes ask; `serve` is called for each, and `tell` takes its outcome."""

    def __init__(self, identity: Identity, rules: NetworkRules, send: Send) -> None:
        self._identity, self._rules, self._send = identity, rules, send
        self._kept: dict[tuple[bytes, bytes], _Kept] = {}
        self._working: Counter[bytes] = Counter()
        self.kept_bytes = 0  # of all answers that may be asked for again
        self.serve: Callable[[OpenMessage], None] | None = None  # None: no message is answered in packets

    def take(self, now: Now, packet: Packet, question: Question, source: Address, *, is_proven: bool) -> str:
        """Take a question, new or repeated; return why it was refused, or ""."""
        self._expire(now)
        name = packet.public_key, packet.transaction
        kept = self._kept.get(name)
        if kept is not None:
            # Whoever recorded a question may send it from any address: a token proves the one that asked first.
            knows = bool(question.token) and question.token == _token(kept.parts) and source == kept.source
            kept.question, kept.room, kept.is_proven = question, len(packet.data), is_proven or knows
            self._answer(name, kept, source)
            return ""
        if self.serve is None:
            return "not worth an answer"
        if self._working.total() >= MAX_WORKING or self._working[packet.public_key] >= MAX_WORKING_OF_ONE:
            return "too many messages at once"
        aim = about(PacketKind.QUESTION, packet.network, packet.transaction, packet.public_key)
        text = unseal(self._identity.shared_key(packet.public_key), aim, question.sealed)
        try:
            message = msgspec.msgpack.decode(text, type=AskedMessage)
        except MALFORMED as error:
            raise BadMessage(node_id_of(packet.public_key).hex(), f"no message: {error}") from None
        self._kept[name] = _Kept(source, question, len(packet.data), is_proven, now.steady + KEPT_S)
        self._working[packet.public_key] += 1
        asked = OpenMessage(*name, node_id_of(packet.public_key), source.host, message)
        if abs(message.at - now.wall) <= WINDOW_S:
            self.serve(asked)
        else:
            self.tell(asked, ToldMessage(Verdict.BY_TLS, b""))  # which says what is wrong with the clocks
        return ""

    def tell(self, asked: OpenMessage, told: ToldMessage) -> None:
        """Answer a question; what is too long for packets is left to TLS."""
        name = asked.public_key, asked.transaction
        kept = self._kept.get(name)
        if kept is None or kept.parts:
            return
        self._done(asked.public_key)
        aim = about(PacketKind.PART, self._rules.header.network, asked.transaction, self._identity.public_key)
        key = self._identity.shared_key(asked.public_key)
        if len(told.body) > LONGEST_BYTES:
            told = ToldMessage(Verdict.BY_TLS, b"")
        sealed = seal(key, aim, msgspec.msgpack.encode(told))
        kept.parts = tuple(sealed[start : start + PART_BYTES] for start in range(0, len(sealed), PART_BYTES))
        kept.size = len(sealed)
        self.kept_bytes += kept.size
        self._answer(name, kept, kept.source)

    def _answer(self, name: tuple[bytes, bytes], kept: _Kept, to: Address) -> None:
        """Send the parts that lack, a window of them at most, and to an unproven address the first alone."""
        public_key, transaction = name
        token, total = _token(kept.parts), len(kept.parts)
        have = kept.question.have if kept.question.token == token else 0
        missing = [number for number in range(total) if not have >> number & 1]
        for number in missing[: WINDOW if kept.is_proven else 1]:
            body = Part(kept.question.turn, token, number, total, kept.parts[number])
            if not kept.is_proven and HEADER.size + body_size(body) + MAC_BYTES > kept.room:
                return
            self._send(transaction, body, self._identity.shared_key(public_key), to, 0)

    def _expire(self, now: Now) -> None:
        while self._kept:
            name, oldest = next(iter(self._kept.items()))
            if oldest.until > now.steady and self.kept_bytes <= MAX_KEPT_BYTES:
                break
            del self._kept[name]
            self.kept_bytes -= oldest.size
            if not oldest.parts:
                self._done(name[0])

    def _done(self, public_key: bytes) -> None:
        self._working[public_key] -= 1
        if not self._working[public_key]:
            del self._working[public_key]


def _token(parts: tuple[bytes, ...]) -> bytes:
    """Return the first bytes of the seal; they are random, so only a node that has a part of the message can repeat
    them."""
    return parts[0][:TOKEN_BYTES] if parts else b""
