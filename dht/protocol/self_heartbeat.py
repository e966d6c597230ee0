"""A node says of itself in heartbeats where it is and what it holds; this file signs them when they are due.

Pure: `now` is an argument. A heartbeat is due every 10 s with jitter, and at once when what it says changed, but at
most every second. A node that listens on all addresses learns its own from the answers of peers: what most of the last
few saw. A quiet node, which takes no part (evidence.py), signs nothing.
"""

import ipaddress
from random import Random
from typing import Any, NamedTuple

from dht.admission.membership_claim import MembershipClaim, days_in, marks_in
from dht.clock import Now
from dht.config import DhtConfig
from dht.identity.node_key import Identity
from dht.identity.puzzle import work_of
from dht.keys import NodeId
from dht.membership.working_families import WorkingFamilies
from dht.protocol.network_rules import NetworkRules
from dht.rate_limit import remember
from dht.wire.contact import Address, Endpoint, Family
from dht.wire.farewell import Farewell, sign_farewell
from dht.wire.heartbeat import Condition, Heartbeat, Load, pack_endpoint, sign_heartbeat
from dht.wire.heartbeat_fit import fit
from dht.wire.room_step import RoomStep

LEAST_S = 1.0  # between two heartbeats, whatever changes; also keeps sequences behind the clock
WITNESSES = 5  # the last peers, per family, whose word about our address counts


class Announcement(NamedTuple):
    """Holds what the node says besides where it is, by the names that `Heartbeat` has for it."""

    ready: bytes = b""
    leased: bytes = b""
    stored_only: bytes = b""
    due: int = 0
    load: Load = Load()
    strategy_version: int = 0
    slot_bits: int = 8
    refuses: bytes = b""
    introducers: tuple[NodeId, ...] = ()
    attests: bytes = b""
    attested_days: bytes = b""
    invited_by: bytes = b""
    nonce: int = 0
    leaving: bool = False
    for_good: bool = False
    farewell: Farewell | None = None  # as long as this node has no vote
    condition: Condition = Condition()
    steps: int = 0
    steps_hour: int = 0


_UNHURRIED: dict[str, Any] = {"due": 0, "load": Load(), "condition": Condition()}


class SelfHeartbeat:
    """Signs this node's heartbeats. A change takes effect with the next one."""

    def __init__(
        self,
        identity: Identity,
        rules: NetworkRules,
        config: DhtConfig,
        listening: tuple[Endpoint, ...],
        rng: Random,
        families: WorkingFamilies,
        *,
        member: bool,
    ) -> None:
        self.public_key = identity.public_key
        self.operator, self.stable = config.operator, config.stable  # who runs this node, and on what, as peers hear it
        self.left_out: tuple[str, ...] = ()  # fields of which the newest heartbeat has no room for all
        self._identity = identity
        self._rules = rules
        self.config = config
        self._listening = listening
        self._learns = frozenset(e.family for e in listening if is_any(e.host))
        self._rng = rng
        self._member = member
        self._quiet = False
        self._families = families
        self._left_out = self._doubted = frozenset[Family]()
        self.says = Announcement()
        self.room_step = RoomStep()
        self._seen: dict[Family, dict[NodeId, str]] = {}
        self._not_allowed = ""  # the last address where a peer saw this node, and that the strategy does not allow
        self.addresses = self._find_addresses()  # of this node, announced or not; v4 first
        self._claimed_by: tuple[object, ...] = ()  # what the claim made last follows from
        self._claim: MembershipClaim
        self._sent = 0.0  # steady
        self._sequence = 0
        self._changed = True
        self.raw = b""  # the newest signed heartbeat; b"" while no address is known
        self.next_due = float("-inf")

    @property
    def mark(self) -> bytes:
        """This node's line in a digest."""
        return self._identity.node_id[:4] + self._sequence.to_bytes(4, "big")

    def announce(
        self,
        ready: bytes,
        leased: bytes,
        stored_only: bytes = b"",
        *,
        due: int,
        load: Load | None = None,
        condition: Condition | None = None,
        slot_bits: int | None = None,
        room_step: RoomStep | None = None,
    ) -> None:
        """Say this in the next heartbeats; `ready` is an encoded set of 2**slot_bits slots, `leased` and `stored_only`
        are sets of positions within it."""
        self.room_step = self.room_step if room_step is None else room_step
        steps, hour = self.room_step.code
        bits = self.says.slot_bits if slot_bits is None else slot_bits
        load, condition = load or self.says.load, condition or self.says.condition
        slots = self.says._replace(ready=ready, leased=leased, stored_only=stored_only, slot_bits=bits)
        self._say(slots._replace(due=due, load=load, condition=condition, steps=steps, steps_hour=hour))

    def refuse(self, hosts: bytes) -> None:
        """Say which hosts this node will not fetch: hashes, 4 bytes each."""
        self._say(self.says._replace(refuses=hosts))

    def follow(self, strategy_version: int, slot_bits: int) -> None:
        """Say which strategy this node goes by, and by how many bits it counts slots."""
        self._say(self.says._replace(strategy_version=strategy_version, slot_bits=slot_bits))

    def seen_at(self, host: str, witness: NodeId) -> bool:
        """Note from which address a peer saw our packets come; True where it is not the one that we announce."""
        if not self._learns:
            return False
        family = Address(host, 0).family
        if family not in self._learns:
            return False
        if not self._rules.policy.allows(host):
            self._not_allowed = host
            return False
        if family in self._doubted:
            self._doubted -= {family}
            self._seen.pop(family, None)
        witnesses = self._seen.setdefault(family, {})
        remember(witnesses, witness, host, WITNESSES)
        before, self.addresses = self.addresses, self._find_addresses()
        if self.addresses != before:
            self.stir()
        return all(e.host != host for e in self.addresses if e.family == family)

    def be_quiet(self, quiet: bool) -> None:
        """Sign no more heartbeats, or do from now on; one who starts is heard at once."""
        if quiet == self._quiet:
            return
        self._quiet = quiet
        self.raw = b""
        self.stir()

    def leave_out(self, families: frozenset[Family]) -> None:
        """Do not announce the endpoints of these families: nobody gets through to them."""
        if families != self._left_out:
            self._left_out = families
            self.stir()

    def introduced_by(self, introducers: tuple[NodeId, ...]) -> None:
        """Say that this node is behind a NAT, and who tells it who wants to reach it; nobody: it is not."""
        self._say(self.says._replace(introducers=introducers))

    def attest(self, marks: bytes, days: bytes) -> None:
        """Name these peers as reached by this node, by their marks, and say since when it knows each."""
        self._say(self.says._replace(attests=marks, attested_days=days))

    def invite(self, invited_by: bytes) -> None:
        """Say by which invitation this node is here."""
        self._say(self.says._replace(invited_by=invited_by))

    def doubt(self, families: frozenset[Family]) -> None:
        """Discard earlier reports of this node's addresses in these families, because the machine has other addresses
        now: the next report alone decides."""
        self._doubted |= families
        self.stir()

    def prove(self, nonce: int) -> None:
        """Say the solution of the identity's puzzle: peers may listen from now on."""
        self._say(self.says._replace(nonce=nonce))

    def outrun(self, sequence: int) -> bool:
        """Continue after a sequence of ours that a peer reports, and tell whether it was news. News means that the
        clock was ahead before the last start, or that another machine has this identity."""
        if sequence <= self._sequence:
            return False
        self._sequence = sequence + self._rng.randrange(2)  # of two machines that sign at one time one is ahead
        self.stir(is_news=False)
        return True

    def leave_for_good(self) -> None:
        """Say that this node gives all its slots to others, and will not be back."""
        self._say(self.says._replace(for_good=True))

    def part(self, now: Now) -> Farewell:
        """Sign a farewell, which the next heartbeats say once `say_farewell` is told of it."""
        return sign_farewell(self._identity, self._rules.network, self._next_sequence(now), int(now.wall))

    def say_farewell(self, farewell: Farewell | None) -> None:
        """Say that this node stops, or has no vote yet; None: that it is to be counted."""
        self._say(self.says._replace(farewell=farewell))

    def come_back(self, now: Now) -> None:
        """Sign a heartbeat without the farewell at once: this node is to be counted again."""
        self.say_farewell(None)
        self.next_due = float("-inf")
        self.beat(now)
        self.stir()

    def leave(self, now: Now) -> None:
        """Sign the last heartbeat."""
        self._say(self.says._replace(leaving=True))
        self.next_due = float("-inf")
        self.beat(now)
        self.next_due = float("inf")

    def beat(self, now: Now) -> bool:
        """Sign the next heartbeat if it is due; True if it says something new, which peers should hear at once."""
        if now.steady < self.next_due:
            return False
        self.next_due = now.steady + self.config.heartbeat_s * self._rng.uniform(0.9, 1.0)
        endpoints = () if self._quiet else tuple(pack_endpoint(e) for e in self.endpoints())
        if not endpoints:
            return False
        self._sequence = self._next_sequence(now)
        ends = now.wall + self._rules.graces.of(self.stable)
        who_when_and_where = self.public_key, self._sequence, now.wall, ends, endpoints, self.stable, self._member
        wanted = Heartbeat(
            *who_when_and_where, name=self.config.name, operator=self.config.operator, **self.says._asdict()
        )
        heartbeat, self.left_out = fit(wanted, self.left_out)
        changed = self._changed or heartbeat.operator != self.operator
        self.operator, self._changed, self._sent = heartbeat.operator, False, now.steady
        self.raw = sign_heartbeat(self._identity, heartbeat, self._rules.network)
        return changed

    def claim(self) -> MembershipClaim:
        """Return what this node says of itself that admission goes by."""
        families, is_member = frozenset(each.family for each in self.endpoints()), self._member and not self._quiet
        says = self.says
        basis = families, is_member, says.attests, says.attested_days, says.invited_by, says.for_good
        if basis != self._claimed_by:
            names, days = marks_in(says.attests), days_in(says.attests, says.attested_days)
            self._claimed_by = basis
            self._claim = MembershipClaim(is_member, families, names, days, says.invited_by, says.for_good)
        return self._claim

    def learns(self, family: Family) -> bool:
        """Tell whether this node has its address of a family from peers, and not from its operator."""
        configured = self.config.announce_v4 if family == 4 else self.config.announce_v6
        return family in self._learns and not configured

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return where peers reach this node, as far as it knows; v4 first. In a family in which nobody is there to see
        this node, it goes by its routes: whoever needs that family has to hear of it."""
        works, seen = self._families.towards_peers - self._left_out, self.addresses
        found = [e for e in seen if e.family in works]
        for endpoint in self._listening if seen else ():
            source = self._families.source(endpoint.family)
            is_new = endpoint.family in works and all(e.family != endpoint.family for e in seen)
            if is_new and source and self._rules.policy.allows(source):
                found.append(Endpoint(source, endpoint.udp_port, endpoint.tcp_port))
        return tuple(sorted(found, key=lambda e: e.family))

    def why_refused(self) -> str:
        """Say why members refuse this node by the strategy in force, and what helps; "" where they do not."""
        own, rules = self.endpoints(), self._rules
        hosts = [e.host for e in own if not rules.policy.allows(e.host)] or ([] if own else [self._not_allowed])
        if hosts and hosts[0]:
            return (
                f"members refuse this node: its address {hosts[0]} is in none of the strategy's declared_prefixes; "
                "a publisher must declare its prefix in the next strategy"
            )
        if rules.puzzle_bits and work_of(self.public_key, self.says.nonce) < rules.puzzle_bits:
            return (
                f"members refuse this node until it has solved its puzzle of {rules.puzzle_bits} bits; it does so now, "
                "and where that lasts, a publisher may lower puzzle_bits in the next strategy"
            )
        return ""

    def is_at(self, address: Address) -> bool:
        """Tell whether a datagram to this address comes to this node, as far as it listens and its machine's routes
        say."""
        return any(
            e.udp == address
            or ((e.family, e.udp_port) == (address.family, address.port) and self._families.is_here(address.host))
            for e in self._listening
        )

    def _next_sequence(self, now: Now) -> int:
        return max(self._sequence + 1, int(now.wall))

    def _say(self, says: Announcement) -> None:
        """A change does not wait for the next heartbeat's turn, but for one of due work, load or condition."""
        before, self.says = self.says, says
        if says._replace(**_UNHURRIED) != before._replace(**_UNHURRIED):
            self.stir()

    def stir(self, *, is_news: bool = True) -> None:
        """Sign the next heartbeat before its turn; if it is news, peers hear it at once."""
        self._changed |= is_news
        self.next_due = min(self.next_due, self._sent + LEAST_S)

    def _find_addresses(self) -> tuple[Endpoint, ...]:
        """The addresses to announce, v4 first: configured, or listened on, or seen by most witnesses."""
        found = []
        for endpoint in sorted(self._listening, key=lambda e: e.family):
            family = endpoint.family
            configured = self.config.announce_v4 if family == 4 else self.config.announce_v6
            seen = list(self._seen.get(family, {}).values())
            if configured or family not in self._learns:
                found.append(Endpoint(configured or endpoint.host, endpoint.udp_port, endpoint.tcp_port))
            elif seen:
                host = max(seen, key=lambda h: (seen.count(h), h))
                found.append(Endpoint(host, endpoint.udp_port, endpoint.tcp_port))
        return tuple(found)


def is_any(host: str) -> bool:
    """Tell whether a literal address stands for all addresses of this machine."""
    return ipaddress.ip_address(host).is_unspecified
