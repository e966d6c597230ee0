"""A line between two nodes that ask each other small messages: packets are late, lost or doubled."""

from heapq import heappop, heappush
from random import Random

from dht.clock import Now
from dht.identity.node_key import Identity
from dht.protocol.message_answers import MessageAnswers, OpenMessage
from dht.protocol.message_questions import MessageQuestions, Told
from dht.protocol.network_rules import NetworkRules
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address
from dht.wire.packets import (
    AskedMessage,
    Body,
    Packet,
    Part,
    Question,
    ToldMessage,
    Verdict,
    decode_body,
    decode_packet,
    encode_packet,
)

NETWORK = b"the network of this line"[:4]
ASKER, ANSWERER = Address("192.0.2.1", 8091), Address("192.0.2.2", 8091)
WALL = 1_700_000_000.0


def at(steady: float) -> Now:
    return Now(WALL + steady, steady)


def rules(identity: Identity) -> NetworkRules:
    return NetworkRules(NETWORK, identity.public_key, AddressPolicy())


class LossyLine:
    """Carries the packets of one asker and one answerer on virtual time. `answer`: what each body is told."""

    def __init__(
        self, seed: int, *, loss: float = 0.0, rtt_s: float = 0.16, jitter_s: float = 0.0, doubled: float = 0.0
    ) -> None:
        self.rng, self.now = Random(seed), 0.0
        self.loss, self.rtt_s, self.jitter_s, self.doubled = loss, rtt_s, jitter_s, doubled
        self.asker, self.answerer = Identity(b"\1" * 32), Identity(b"\2" * 32)
        self.is_proven, self.takes_s = True, 0.0
        self.carried: list[tuple[float, bytes]] = []  # every packet that was sent, when
        self.served: list[bytes] = []  # bodies that the answerer worked on
        self.sizes = dict[bytes, int]()  # of the answer to a body; others are told themselves
        self.told: dict[bytes, tuple[float, Told]] = {}
        self.silent: list[bytes] = []
        self._events: list[tuple[float, int, bytes, bool]] = []
        self._work: list[tuple[float, int, OpenMessage]] = []
        self._order = 0
        self.questions = MessageQuestions(self.asker, rules(self.asker), self._to(self.asker, True), self.rng)
        self.answers = MessageAnswers(self.answerer, rules(self.answerer), self._to(self.answerer, False))
        self.answers.serve = self._serve

    def ask(self, body: bytes, *, usual_s: float = 0.2) -> bytes | None:
        message = AskedMessage(at(self.now).wall, "Anything", body)
        key = self.answerer.public_key
        return self.questions.ask(
            at(self.now),
            key,
            ANSWERER,
            message,
            usual_s,
            lambda told: self.told.__setitem__(body, (self.now, told)),
            lambda: self.silent.append(body),
        )

    def run(self, until: float) -> None:
        """Let time pass."""
        while True:
            due = min(
                self.questions.next_due,
                self._events[0][0] if self._events else float("inf"),
                self._work[0][0] if self._work else float("inf"),
            )
            if due > until:
                self.now = until
                return
            self.now = max(self.now, due)
            while self._work and self._work[0][0] <= self.now:
                _, _, asked = heappop(self._work)
                self.answers.tell(asked, ToldMessage(Verdict.ANSWERED, self.answer_to(asked.message.body)))
            while self._events and self._events[0][0] <= self.now:
                _, _, data, to_answerer = heappop(self._events)
                self._deliver(data, to_answerer)
            self.questions.overdue(at(self.now))

    def answer_to(self, body: bytes) -> bytes:
        return Random(body).randbytes(self.sizes[body]) if body in self.sizes else body

    def _serve(self, asked: OpenMessage) -> None:
        self.served.append(asked.message.body)
        self._order += 1
        heappush(self._work, (self.now + self.takes_s, self._order, asked))

    def _to(self, sender: Identity, to_answerer: bool):  # type: ignore[no-untyped-def]
        def send(transaction: bytes, body: Body, key: bytes, to: Address, size: int) -> None:
            data = encode_packet(rules(sender).header, transaction, body, key, size=size)
            self.carried.append((self.now, data))
            for _ in range(1 + (self.rng.random() < self.doubled)):
                if self.rng.random() >= self.loss:
                    self._order += 1
                    delay_s = self.rtt_s / 2 + self.rng.uniform(0, self.jitter_s)
                    heappush(self._events, (self.now + delay_s, self._order, data, to_answerer))

        return send

    def _deliver(self, data: bytes, to_answerer: bool) -> None:
        packet, body = opened(data)
        if isinstance(body, Question) and to_answerer:
            self.answers.take(at(self.now), packet, body, ASKER, is_proven=self.is_proven)
        elif isinstance(body, Part):
            self.questions.take(at(self.now), packet, body)


def opened(data: bytes) -> tuple[Packet, Body]:
    packet = decode_packet(data)
    return packet, decode_body(packet)
