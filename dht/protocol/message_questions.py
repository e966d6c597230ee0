"""Small messages are asked in packets, for a line that loses some: what does not come is asked for again.

Pure: `now` is an argument. TCP waits for a lost packet at least 200 ms and then twice as long each time. A datagram is
repeated after the peer's own round trip (RFC 6298's estimate, as everywhere here). The repeated question has a bit for
each part that has arrived, which need not come again (selective acknowledgement, RFC 2018). The asker drives all of it,
and backs off while nothing comes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import msgspec

from dht.clock import Now
from dht.errors import MALFORMED, BadSignature
from dht.identity.node_key import SEAL_BYTES, Identity, seal, unseal
from dht.protocol.network_rules import NetworkRules
from dht.rate_limit import remember
from dht.routing.routing_table import RttEstimator
from dht.wire.contact import Address
from dht.wire.packets import (
    MAX_TURNS,
    PACKET_LIMIT,
    QUESTION_BYTES,
    WINDOW,
    AskedMessage,
    Body,
    Packet,
    PacketKind,
    Part,
    Question,
    ToldMessage,
    about,
)

Send = Callable[[bytes, Body, bytes, Address, int], None]
"""(transaction, body, shared key, to, size to pad to)"""

BACK_OFF = (1.0, 1.0, 1.5, 2.0, 3.0, 4.0)  # of the timeout, until the second packet, the third …; the last holds on
SILENT = 2  # packets without an answer: from then on another way is worth trying, 4 % of the time at 10 % loss each way
MORE_S, MORE_OF_RTT = 0.03, 0.5  # without a further part, before what lacks is asked for
LAST_S = 0.01  # after the last of those that were under way: packets overtake each other by less
OPEN_LIMIT = 256  # questions at once
PATHS_LIMIT = 4096  # peers whose round trips are remembered
DEAF_S = 600.0  # so long no packets go to a peer that answered over TLS only: it may be older than this kind of packet
NEVER = float("inf")


class Told(NamedTuple):
    """The outcome of a question: the peer's answer, or None where packets brought no readable one."""

    answer: ToldMessage | None


@dataclass(slots=True)
class OpenQuestion:
    """Holds one question until its answer is whole. `done` is called once, `silent` at most once: when SILENT packets
    have brought nothing."""

    public_key: bytes
    address: Address
    sealed: bytes
    timeout_s: float
    done: Callable[[Told], None]
    silent: Callable[[], None]
    due: float = NEVER
    token: bytes = b""
    total: int = 0
    parts: dict[int, bytes] = field(default_factory=dict)
    awaited: set[int] = field(default_factory=set)  # parts under way: those that come before the question is sent again
    last: int = 0  # of these
    sent: list[float] = field(default_factory=list)  # when each packet left
    quiet: int = 0  # packets since a part came last

    def await_more(self) -> None:
        """Note what comes next."""
        missing = [number for number in range(self.total) if number not in self.parts][:WINDOW]
        self.awaited, self.last = set(missing), missing[-1] if missing else 0


class MessageQuestions:
    """Asks the small messages of one node."""

    def __init__(self, identity: Identity, rules: NetworkRules, send: Send, rng: Random) -> None:
        self._identity, self._rules, self._send, self._rng = identity, rules, send, rng
        self._open: dict[bytes, OpenQuestion] = {}
        self._paths: dict[bytes, RttEstimator] = {}
        self._deaf: dict[bytes, float] = {}

    def ask(
        self,
        now: Now,
        public_key: bytes,
        address: Address,
        message: AskedMessage,
        usual_s: float,
        done: Callable[[Told], None],
        silent: Callable[[], None],
    ) -> bytes | None:
        """Ask, and return the transaction; None where it has to go another way. `usual_s`: what an answer takes as far
        as others know."""
        text = msgspec.msgpack.encode(message)
        if len(text) + SEAL_BYTES > QUESTION_BYTES or len(self._open) >= OPEN_LIMIT:
            return None
        if self._deaf.get(public_key, now.steady) > now.steady:
            return None
        try:
            key = self._identity.shared_key(public_key)
        except BadSignature:
            return None
        transaction = self._rng.randbytes(8)
        aim = about(PacketKind.QUESTION, self._rules.header.network, transaction, self._identity.public_key)
        path = self._paths.get(public_key)
        timeout_s = path.timeout_s if path is not None else usual_s
        question = OpenQuestion(public_key, address, seal(key, aim, text), timeout_s, done, silent)
        self._open[transaction] = question
        self._repeat(now, transaction, question)
        return transaction

    def forget(self, transaction: bytes) -> None:
        """Ask this no more."""
        self._open.pop(transaction, None)

    def unheard(self, now: Now, public_key: bytes) -> None:
        """Note that a peer answered over TLS while packets brought nothing; one that answered packets before is
        believed to do so again."""
        if public_key not in self._paths:
            remember(self._deaf, public_key, now.steady + DEAF_S, PATHS_LIMIT)

    def take(self, now: Now, packet: Packet, part: Part) -> str:
        """Take a part of an answer; return why it was refused, or ""."""
        question = self._open.get(packet.transaction)
        if question is None or question.public_key != packet.public_key:
            return "answer that nobody asked for"
        if part.number >= part.total or part.turn >= len(question.sent):
            return "malformed"
        if (part.token, part.total) != (question.token, question.total):  # the first, or answered anew
            question.token, question.total, question.parts = part.token, part.total, {}
            question.await_more()
        if part.number not in question.parts:
            self._learn(packet.public_key, now.steady - question.sent[part.turn], question)
            question.parts[part.number] = part.data
            question.awaited.discard(part.number)
            question.quiet = 0
        if len(question.parts) == question.total:
            del self._open[packet.transaction]
            question.done(Told(self._opened(packet, question)))
        else:
            question.due = now.steady + self._rest_s(question, part)
        return ""

    def overdue(self, now: Now) -> None:
        """Repeat what has waited for too long."""
        if not self._open:
            return
        for transaction, question in [each for each in self._open.items() if each[1].due <= now.steady]:
            if len(question.sent) > MAX_TURNS:
                question.due = NEVER  # whoever asked waits for as long as it likes
                continue
            if question.quiet == SILENT and not question.parts:
                question.silent()
            self._repeat(now, transaction, question)

    @property
    def next_due(self) -> float:
        """Steady time of the next `overdue`."""
        return min([question.due for question in self._open.values()]) if self._open else NEVER

    def _repeat(self, now: Now, transaction: bytes, question: OpenQuestion) -> None:
        """Send the question. It is padded while its answerer may not know this address, so that the first part of the
        answer is no longer than the question."""
        question.await_more()
        have = sum(1 << number for number in question.parts)
        body = Question(len(question.sent), have, question.token, question.sealed)
        key = self._identity.shared_key(question.public_key)
        self._send(transaction, body, key, question.address, 0 if question.token else PACKET_LIMIT)
        question.due = now.steady + question.timeout_s * BACK_OFF[min(question.quiet, len(BACK_OFF) - 1)]
        question.sent.append(now.steady)
        question.quiet += 1

    def _rest_s(self, question: OpenQuestion, part: Part) -> float:
        """How long to wait for a further part."""
        if not question.awaited:
            return 0.0
        path = self._paths[question.public_key]
        return LAST_S if part.number == question.last else max(MORE_S, MORE_OF_RTT * path.rtt_s)

    def _learn(self, public_key: bytes, took_s: float, question: OpenQuestion) -> None:
        """The first part says how long an answer takes; each names the packet that it answers, so none misleads."""
        path = self._paths.get(public_key)
        if path is None:
            path = RttEstimator()
            remember(self._paths, public_key, path, PATHS_LIMIT)
            self._deaf.pop(public_key, None)
        if not question.parts:
            path.took(took_s)

    def _opened(self, packet: Packet, question: OpenQuestion) -> ToldMessage | None:
        sealed = b"".join(question.parts[number] for number in range(question.total))
        aim = about(PacketKind.PART, packet.network, packet.transaction, packet.public_key)
        try:
            text = unseal(self._identity.shared_key(packet.public_key), aim, sealed)
            return msgspec.msgpack.decode(text, type=ToldMessage)
        except (BadSignature, *MALFORMED):
            return None
