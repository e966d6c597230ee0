"""Runs lease rounds over a swarm of bare cores: the view and the leases of a real node, moved as
`dht/leases/lease_service.py` does.

Requests and answers take the swarm's delays and are lost as its packets are, each way, without TCP's repetitions. The
cost of a message on the wire is computed. It is MESSAGE_BYTES for TCP, TLS and HTTP around its body, and one packet for
each SEGMENT_BYTES. OPENING packets come on top where the two have not talked for as long as a connection is kept.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random

import msgspec

from bootstrap import load_network, new_network
from dht import Identity, Network, NodeId, Placement, Slot, Strategy, StrategyHistory
from dht.leases.lease_holder import LeaseHolder
from dht.leases.lease_service import ASK_S, FALL_BACK_S, TICK_S
from dht.leases.quorum_round import QuorumRound
from dht.leases.voter import VOTE_S
from dht.messages import LeaseRelease, LeaseReply, LeaseRequest
from dht.ownership.view import OverlayView
from dht.slot_set import encode_positions, encode_slots
from dht.transport.tls_client import KEEP_S
from dht.wire.heartbeat import Load
from node.extras.simulation.observations import REPLICAS
from node.extras.simulation.swarm import Bee, Swarm

SEGMENT_BYTES = 1_400
MESSAGE_BYTES = 420  # TCP/IP 52, TLS 22, request line and headers of ours 346 (answers have less)
OPENING = 6  # SYN, its answer, ClientHello, ServerHello to Finished in two segments, Finished with the request
ENCODER = msgspec.msgpack.Encoder()


@dataclass(slots=True, eq=False)
class Tenant:
    """Holds the leases of one node. `life`: that of the bee to which this object belongs."""

    bee: Bee
    view: OverlayView
    leases: LeaseHolder
    life: int
    looked: object = None
    told: frozenset[Slot] = frozenset()
    open: QuorumRound | None = None
    waiting: int = 0  # answers that may still come
    fell_back: bool = False
    talked_at: dict[NodeId, float] = field(default_factory=dict)

    @property
    def is_up(self) -> bool:
        """Tell whether the node still lives the life that these leases are of."""
        return self.bee.up and self.bee.life == self.life


class LeaseRounds:
    """Runs the leases of a whole swarm: all are ready for what they own from now on, and hold slots once they `begin`.
    `packets` and `bytes` count what they sent."""

    def __init__(self, swarm: Swarm, slot_bits: int) -> None:
        self._swarm, self._bits = swarm, slot_bits
        self._log = StrategyHistory(network_of(slot_bits))
        self._rng = Random(f"rounds {swarm.seed}")
        self.packets: Counter[str] = Counter()
        self.bytes = 0
        members = tuple(sorted(bee.node_id for bee in swarm.bees))
        self.placement = Placement(members, slot_bits, REPLICAS)
        self._ready: dict[NodeId, set[Slot]] = {member: set() for member in members}
        for slot in map(Slot, range(1 << slot_bits)):
            for owner in self.placement.owners(slot):
                self._ready[owner].add(slot)
        self.tenants: dict[NodeId, Tenant] = {}
        for bee in swarm.bees:
            self._announce(bee, frozenset())

    def begin(self) -> None:
        """Let all ask for leases, once views have settled."""
        self.tenants = {bee.node_id: self._move_in(bee) for bee in self._swarm.bees}

    def restart(self, bee: Bee) -> None:
        """Start a killed node's leases again: its votes are forgotten, so it abstains."""
        self.tenants[bee.node_id] = self._move_in(bee, self._swarm.time + VOTE_S)

    def holders(self) -> Mapping[Slot, list[NodeId]]:
        """Return who may crawl each leased slot at this moment."""
        found: dict[Slot, list[NodeId]] = {}
        for peer, tenant in self.tenants.items():
            for slot in tenant.leases.held(self._swarm.now) if tenant.is_up else ():
                found.setdefault(slot, []).append(peer)
        return found

    def _move_in(self, bee: Bee, abstain_until: float = 0.0) -> Tenant:
        core, swarm = bee.core, self._swarm
        view = OverlayView(bee.node_id, core.members, self._log, lambda: swarm.now, core.own)
        view.ready_peers.set_own(frozenset(self._ready[bee.node_id]), Load())
        leases = LeaseHolder(bee.node_id, self._bits, abstain_until=abstain_until, not_before=swarm.time + 3.0)
        tenant = Tenant(bee, view, leases, bee.life)
        self._announce(bee, frozenset())
        swarm.later(self._rng.uniform(0.0, TICK_S) + 3.0, self._step, tenant)
        return tenant

    def _announce(self, bee: Bee, held: frozenset[Slot]) -> None:
        """Tell what a node leases in its heartbeat at once, as `dht/overlay/service.py` does."""
        ready = frozenset(self._ready[bee.node_id])
        bee.core.own.announce(encode_slots(ready), encode_positions(held, ready), due=0, slot_bits=self._bits)
        self._swarm.kick(bee)

    def _step(self, tenant: Tenant) -> None:
        if not tenant.is_up:
            return
        now, teams = self._swarm.now, tenant.view.teams()
        if teams is not tenant.looked:
            tenant.looked = teams
            tenant.leases.set_teams(now, teams)
        tenant.open, tenant.fell_back = tenant.leases.step(now, tenant.view, lambda _: False), False
        self._ask(tenant, tenant.open, tenant.open.requests)
        if tenant.waiting:
            self._swarm.later(FALL_BACK_S, self._go_on, tenant, tenant.open)
        else:
            self._go_on(tenant, tenant.open)

    def _go_on(self, tenant: Tenant, asked: QuorumRound) -> None:
        """Ask those left out, then finish, once all have answered or had their time."""
        if tenant.open is not asked or not tenant.is_up:
            return
        if not tenant.fell_back:
            tenant.fell_back = True
            self._ask(tenant, asked, tenant.leases.fall_back(asked))
        if tenant.waiting:
            return
        tenant.open = None
        for peer, release in tenant.leases.finish(self._swarm.now, asked).items():
            self._release(tenant, peer, release, again=True)
        held = frozenset(tenant.leases.held(self._swarm.now))
        if held != tenant.told:
            tenant.told = held
            self._announce(tenant.bee, held)
        self._swarm.later(TICK_S, self._step, tenant)

    def _ask(self, tenant: Tenant, asked: QuorumRound, requests: Mapping[NodeId, LeaseRequest]) -> None:
        for peer, request in requests.items():
            tenant.waiting += 1
            ended: list[bool] = []
            self._swarm.later(ASK_S, self._ended, tenant, asked, ended)
            self._send(tenant, peer, request, partial(self._vote, tenant, asked, peer, request, ended))

    def _vote(self, asker: Tenant, asked: QuorumRound, peer: NodeId, request: LeaseRequest, ended: list[bool]) -> None:
        voter = self.tenants[peer]
        reply = voter.leases.answer(self._swarm.now, asker.bee.node_id, request, voter.view)
        hear = partial(self._hear, asker, asked, peer, reply, ended)
        self._send(voter, asker.bee.node_id, reply, hear)

    def _hear(self, asker: Tenant, asked: QuorumRound, peer: NodeId, reply: LeaseReply, ended: list[bool]) -> None:
        if not ended:
            asker.leases.hear(self._swarm.now, asked, peer, reply)
            self._ended(asker, asked, ended)

    def _ended(self, tenant: Tenant, asked: QuorumRound, ended: list[bool]) -> None:
        """Note that a question has its answer, or will get none."""
        if ended:
            return
        ended.append(True)
        tenant.waiting -= 1
        if not tenant.waiting:
            self._go_on(tenant, asked)

    def _release(self, tenant: Tenant, peer: NodeId, release: LeaseRelease, *, again: bool) -> None:
        heard: list[bool] = []
        self._send(tenant, peer, release, partial(self._released, tenant, peer, release, heard))
        if again:
            self._swarm.later(ASK_S, self._repeat, tenant, peer, release, heard)

    def _released(self, tenant: Tenant, peer: NodeId, release: LeaseRelease, heard: list[bool]) -> None:
        there = self.tenants[peer]
        there.leases.hear_release(self._swarm.now, tenant.bee.node_id, release)
        self._send(there, tenant.bee.node_id, None, partial(heard.append, True))

    def _repeat(self, tenant: Tenant, peer: NodeId, release: LeaseRelease, heard: list[bool]) -> None:
        if not heard and tenant.is_up:
            self._release(tenant, peer, release, again=False)

    def _send(self, tenant: Tenant, peer: NodeId, message: object, arrive: Callable[[], None]) -> None:
        """Carry one message one way: counted, late, perhaps lost."""
        swarm, there = self._swarm, self.tenants[peer]
        size = MESSAGE_BYTES + (len(ENCODER.encode(message)) if message is not None else 1)
        self.bytes += size
        self.packets[type(message).__name__] += -(-size // SEGMENT_BYTES)
        talked_at = max(tenant.talked_at.get(peer, -KEEP_S), there.talked_at.get(tenant.bee.node_id, -KEEP_S))
        if swarm.time - talked_at >= KEEP_S:
            self.packets["opening"] += OPENING
        tenant.talked_at[peer] = swarm.time
        if (swarm.loss and self._rng.random() < swarm.loss) or not swarm.joined(tenant.bee, there.bee):
            return
        delay_s = swarm.delays.one_way_s(tenant.bee.index, there.bee.index, self._rng.random())
        swarm.later(delay_s, self._arrive, tenant, there, arrive)

    def _arrive(self, sender: Tenant, there: Tenant, arrive: Callable[[], None]) -> None:
        if sender.is_up and there.is_up:
            arrive()


def network_of(slot_bits: int) -> Network:
    """Make a network whose first strategy has 2**slot_bits slots."""
    publisher = Identity(Random("publisher").randbytes(32))
    first = Strategy(network="", version=1, effective_at=0, next_at=10**10, expires_at=2 * 10**10, slot_bits=slot_bits)
    return load_network(new_network("a swarm", [publisher], first))
