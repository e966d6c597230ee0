"""Slots that exchange messages over a network that loses, doubles and delays them; all in one thread, by a seed."""

import random
from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from index.rank.inflow import InflowAck, InflowMessage
from index.rank.ledger import allowed_flows
from index.rank.link_graph import LinkGraph, build_graph
from index.rank.slot_ranks import RankState, SlotRanks, SlotStatement, error_of

BITS = 2
Links = dict[int, list[int]]


def random_links(rng: random.Random, pages: int, most: int = 12) -> Links:
    """Make a web of pages whose numbers lie in all slots; most links stay near, and some pages have none."""
    numbers = sorted(rng.getrandbits(64) for _ in range(pages))
    return {
        page: [
            numbers[rng.randrange(pages)] if rng.random() < 0.3 else numbers[(n + rng.randrange(1, 9)) % pages]
            for _ in range(rng.randrange(most))
        ]
        for n, page in enumerate(numbers)
    }


def graph_of(links: Links, slot: int, leads: Mapping[int, int] | None = None, told: Collection[int] = ()) -> LinkGraph:
    """The graph of a slot whose holder knows where its own pages lead, and those that it was told of."""
    here = {page: found for page, found in links.items() if page >> 64 - BITS == slot}
    known = {target for found in links.values() for target in found} | set((leads or {}).values())
    aliases = {page: to for page, to in (leads or {}).items() if page >> 64 - BITS == slot or page in told}
    return build_graph(here.items(), known=known, aliases=aliases, slot=slot, slot_bits=BITS)


class SlotNetwork:
    """Four slots. `loss`, `doubles`, `late`: the share of messages that are so."""

    lies: dict[int, float]  # by how much a slot's holder exaggerates what it gives

    def __init__(
        self,
        links: Links,
        rng: random.Random,
        loss: float = 0,
        doubles: float = 0,
        late: float = 0,
        leads: Mapping[int, int] | None = None,
    ) -> None:
        self.lies = {}
        self.leads, self.told = leads or {}, [set[int]() for _ in range(1 << BITS)]
        self.links, self.rng = links, rng
        self.loss, self.doubles, self.late = loss, doubles, late
        self.now, self.entries, self.epochs = 0.0, list[int](), [1] * (1 << BITS)
        self.slots = [SlotRanks(graph_of(links, slot, self.leads), slot, 1, 0.0) for slot in range(1 << BITS)]
        self.on_way: list[tuple[float, InflowMessage | InflowAck]] = []
        self.documents = [sum(page >> 64 - BITS == slot for page in links) for slot in range(1 << BITS)]

    def run(self, rounds: int) -> None:
        for _ in range(rounds):
            self.now += 1
            self.entries.append(0)
            for slot in self.slots:
                for message in slot.step():
                    self.entries[-1] += len(message)
                    self._send(_exaggerated(message, self.lies.get(slot.slot, 1.0)))
            self._deliver()

    def converge(self, error: float, most_rounds: int = 400) -> int:
        """Run until the slots' own statements prove so small an error; return the rounds that it took."""
        for taken in range(1, most_rounds + 1):
            self.run(1)
            if self.error() <= error:
                return taken
        raise AssertionError(f"not converged in {most_rounds} rounds")

    def error(self) -> float:
        said: Sequence[SlotStatement] = [slot.statement(self.now) for slot in self.slots]
        return error_of(said)

    def replace(self, number: int, state: RankState | None, links: Links | None = None) -> None:
        """Let another node hold a slot, from what the holder before left at some time."""
        self.links = links or self.links
        self.epochs[number] += 1
        slot = SlotRanks(graph_of(self.links, number), number, self.epochs[number], self.now, state)
        self.slots[number] = slot
        for other in range(1 << BITS):
            if other != number:
                self._send(slot.ack_for(other))

    def relink(self, number: int, links: Links) -> None:
        """Let a slot's holder read other links."""
        self.links = links
        self.slots[number].relink(graph_of(links, number), self.now)

    def tell_misled(self) -> None:
        """Tell every slot where those pages lead that it gives something."""
        for slot in self.slots:
            for source, pages in slot.misled().items():
                self.told[source] |= set(pages)
                graph = graph_of(self.links, source, self.leads, self.told[source])
                self.slots[source].relink(graph, self.now)

    def ranks(self) -> dict[int, float]:
        found = {
            page: value
            for slot in self.slots
            for page, value in zip(slot.numbers.tolist(), slot.values.tolist(), strict=True)
            if value
        }
        return {page: value / sum(found.values()) for page, value in found.items()}

    def allowed(self) -> NDArray[np.float64]:
        """What each slot may give each other one, by what all say."""
        claims = np.zeros((1 << BITS, 1 << BITS))
        for slot in self.slots:
            for other, given in slot.given().items():
                claims[slot.slot, other] = given * self.lies.get(slot.slot, 1.0)
        return allowed_flows(claims, np.array(self.documents))

    def _send(self, message: InflowMessage | InflowAck) -> None:
        for _ in range(1 + (self.rng.random() < self.doubles)):
            if self.rng.random() >= self.loss:
                late = self.rng.random() < self.late
                self.on_way.append((self.now + (self.rng.uniform(1, 6) if late else 0), message))

    def _deliver(self) -> None:
        allowed = self.allowed()
        for slot in self.slots:
            for other in range(1 << BITS):
                slot.limit(other, allowed[other, slot.slot])
        while due := [each for each in self.on_way if each[0] <= self.now]:
            self.on_way = [each for each in self.on_way if each[0] > self.now]
            self.rng.shuffle(due)
            for _, message in due:
                if isinstance(message, InflowMessage):
                    ack = self.slots[message.target].receive(message, allowed[message.source, message.target])
                    self._send(ack)
                else:
                    self.slots[message.source].acknowledge(message)


def _exaggerated(message: InflowMessage, times: float) -> InflowMessage:
    values = np.frombuffer(message.values, "<f4") * np.float32(times)
    return msgspec.structs.replace(message, values=values.tobytes())
