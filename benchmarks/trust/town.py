"""A network as all its members see it: who asks whom to attest it, who is admitted, how old each is.

Admission, the choice of attesters, their names and the rule about crowds are a node's own code; what is left out
is the network between them. In one round, the time in which heartbeats spread, everybody who waits asks, honest members
name by what they knew before it, and those of the attacker lie as it pays most: they name whoever lacks no more than
they can give, and say that they have always known it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random

from dht.admission.attested_peers import AttestedPeers
from dht.admission.block_crowd import crowding_blocks, is_crowded
from dht.admission.member_admission import BLOCK_ATTESTERS, BLOCK_NAMES, MemberAdmission
from dht.admission.membership_claim import MembershipClaim, days_in, mark_of, marks_in
from dht.keys import NodeId
from dht.ownership.failure_domains import FailureDomains
from dht.reachability.attester import ALL_BURST, ALL_S, ASKED, BLOCK_ASKED, NEAREST
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Family
from dht.wire.heartbeat import MOST_ATTESTED

V4 = frozenset[Family]((4,))
ROUND_S = 10.0
ROUNDS = 4  # a day in which somebody asks or is dropped: nothing moves after two or three
ASKERS = int(ALL_BURST + ALL_S * ROUND_S)  # whom one attester reaches in a round
BEGAN = 20_000  # the day on which the honest members came
RUNNING_DAYS = 30  # after that the attacker comes


class Town:
    """Honest members, each in a /24 of its own, and the identities of one attacker."""

    def __init__(self, honest: int, seed: object) -> None:
        self.rng = Random(f"town {seed}")
        self.honest = [NodeId(self.rng.randbytes(20)) for _ in range(honest)]
        self.prefixes: dict[NodeId, bytes] = {}
        self.admission = MemberAdmission(self.honest[0])
        self.admission.follow(True)
        self.today = BEGAN
        self._blocks: dict[NodeId, frozenset[bytes]] = {}  # that make a crowd of those who share them
        self._names = {each: AttestedPeers(each, self.admission, self._part_of(each)) for each in self.honest}
        self._lies: dict[NodeId, set[NodeId]] = {}  # the attacker's identities, and whom each names
        self._asked = Counter[NodeId]()
        self._silent: set[NodeId] = set()
        for number, each in enumerate(self.honest):
            self._place(each, f"9.{number // 250}.{number % 250}.1")
        self.admission.trust(self.honest)
        for each in self.honest:
            self._say(each)
        while self.today < BEGAN + RUNNING_DAYS:
            self._ask()
            self.today += 1

    def join(self, identities: Iterable[NodeId], hosts: Sequence[str], *, are_reached: bool = True) -> None:
        """Let identities of the attacker say from now on that they are members, at these addresses in turn."""
        for number, each in enumerate(identities):
            self._place(each, hosts[number % len(hosts)])
            self._lies[each] = set()
            self._say(each)
            if not are_reached:
                self._silent.add(each)

    def settle(self) -> None:
        """Let everybody who lacks names ask, until nothing changes any more."""
        for _ in range(ROUNDS):
            self._ask()
            self._lie()
            self._drop_late()
        for _ in range(2):
            self.admission.sweep(lambda peer: True)

    def pass_days(self, days: int) -> None:
        """Let so many days pass; on the last one those who still wait ask again."""
        self.today += days
        self.settle()

    @property
    def admitted(self) -> set[NodeId]:
        """The attacker's members."""
        return {each for each in self._lies if self.admission.is_member(each)}

    def members(self) -> list[NodeId]:
        """Return all members, sorted."""
        return sorted([*self.honest, *self.admitted])

    def domains(self, last_old_day: int | None) -> dict[NodeId, FailureDomains]:
        """Return what decides beside whom members own a slot; young is whose first day is after that one."""
        first_day = self.admission.first_day
        found = {}
        for each in self.members():
            is_young = last_old_day is not None and ((day := first_day(each)) is None or day > last_old_day)
            found[each] = FailureDomains(blocks=frozenset({self.prefixes[each]}), is_young=is_young)
        return found

    def _ask(self) -> None:
        """All who lack names ask those whose part it is; these name whom they may, by what they knew before."""
        asked, names = Counter[NodeId](), self.admission
        lacking = [each for each in (*self.honest, *self._lies) if each not in self._silent and names.lacks(each) > 0]
        self.rng.shuffle(lacking)
        mates, members = self._mates(), len(self.honest) + len(self.admitted)
        wanted = [(each, self._targets(each, turn)) for turn, each in enumerate(lacking)]
        for asker, attesters in wanted:
            known = [self._blocks[mate] for mate in mates.get(asker, ())]
            for attester in attesters:
                if attester not in self._names or asked[attester] >= ASKERS:
                    continue
                asked[attester] += 1
                named = self._names[attester]
                here = [self._blocks[other] for other in named if other != asker]
                if not (named.has(asker, mark_of(asker)) or is_crowded(self._blocks[asker], [*known, *here], members)):
                    named.name(asker, mark_of(asker), BEGAN if asker in self._names else self.today)
        for attester in asked:
            self._say(attester)

    def _targets(self, asker: NodeId, turn: int) -> list[NodeId]:
        """Whom somebody asks: first who counts the members of its block, and once these name it, who is near it. Of
        those who count, an attacker's identities ask different ones, so that more of them are named."""
        admission, block = self.admission, self.prefixes[asker]
        first = turn % 2 * BLOCK_NAMES if asker in self._lies else 0
        counting = admission.nearest_members(block, V4, BLOCK_ATTESTERS)[first : first + BLOCK_ASKED]
        is_counted = admission.is_counted(asker, MembershipClaim(True, V4, block=block))
        if not is_counted:
            return counting
        self._asked[asker] += 1
        is_late = asker in self._lies or self._asked[asker] > 1
        return admission.nearest_members(asker, V4, NEAREST if is_late else ASKED)

    def _lie(self) -> None:
        """The attacker's members name whom that admits, and then whoever might be dropped."""
        mine = self.admitted
        for is_in in (False, True):
            for each in [each for each in self._lies if self.admission.is_member(each) == is_in]:
                near = [m for m in self.admission.nearest_members(each, V4) if m in mine]
                able = [m for m in near if len(self._lies[m]) < MOST_ATTESTED and each not in self._lies[m]]
                if able and (is_in or len(able) >= self.admission.lacks(each)):
                    for liar in able:
                        self._lies[liar].add(each)
                        self._say(liar)

    def _drop_late(self) -> None:
        """Honest members drop those of a block that came after two others of it, where all came lately."""
        mates, members = self._mates(), len(self.honest) + len(self.admitted)
        first_day = self.admission.first_day
        turn = {each: (first_day(each) or self.today, each) for each in self.admitted}
        late = {
            each
            for each in turn
            if is_crowded(self._blocks[each], [self._blocks[m] for m in mates[each] if turn[m] < turn[each]], members)
        }
        for attester, named in self._names.items():
            if late_here := {each for each in late if (named.day(each) or 0) + 1 >= self.today}:
                named.retain(lambda peer, late_here=late_here: peer not in late_here)
                self._say(attester)

    def _mates(self) -> dict[NodeId, list[NodeId]]:
        """Of every identity, the members in its /24."""
        of_prefix: dict[bytes, list[NodeId]] = {}
        for each in self.admitted:
            of_prefix.setdefault(self.prefixes[each], []).append(each)
        return {each: [m for m in of_prefix.get(self.prefixes[each], ()) if m != each] for each in self._lies}

    def _place(self, peer: NodeId, host: str) -> None:
        policy = AddressPolicy()
        self.prefixes[peer] = policy.subnet(host) or b""
        self._blocks[peer] = crowding_blocks([host], policy)

    def _part_of(self, attester: NodeId) -> Callable[[NodeId], bool]:
        return lambda peer: attester in self.admission.nearest_members(peer, V4, NEAREST)

    def _say(self, peer: NodeId) -> None:
        """Everybody hears whom a member names now."""
        lies, block = self._lies.get(peer), self.prefixes[peer]
        if lies is None:
            marks, days = self._names[peer].marks, self._names[peer].days
            claim = MembershipClaim(True, V4, marks_in(marks), days_in(marks, days), block)
        else:
            said = frozenset(map(mark_of, lies))
            claim = MembershipClaim(True, V4, said, dict.fromkeys(said, 1), block)
        self.admission.hear(peer, claim)
