"""A network as all its members see it: which nodes ask which attesters, which are admitted, how old each is.

Admission, the choice of attesters and their names are a node's own code; the network between them is left out. In one
round, the time in which heartbeats spread, all that wait ask. Honest members name them by what they knew before it.
Members of the attacker lie as it pays most: they name each identity that lacks no more names than they can give, and
say that they have always known it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random

from dht.admission.member_admission import MemberAdmission
from dht.admission.membership_claim import MembershipClaim, days_in, mark_of, marks_in
from dht.keys import NodeId
from dht.ownership.failure_domains import FailureDomains
from dht.reachability.attester import ALL_BURST, ALL_S, ASKED, NEAREST, AttestedPeers
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
        self.today = BEGAN
        self._names = {each: AttestedPeers(self.admission, self._part_of(each)) for each in self.honest}
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
        wanted = [(each, self._targets(each)) for each in lacking]
        for asker, attesters in wanted:
            for attester in attesters:
                if attester not in self._names or asked[attester] >= ASKERS:
                    continue
                asked[attester] += 1
                named = self._names[attester]
                if not named.has(asker, mark_of(asker)):
                    named.name(asker, mark_of(asker), BEGAN if asker in self._names else self.today)
        for attester in asked:
            self._say(attester)

    def _targets(self, asker: NodeId) -> list[NodeId]:
        """The members that a node asks: its six attesters, and all twelve when it has asked before."""
        self._asked[asker] += 1
        is_late = asker in self._lies or self._asked[asker] > 1
        return self.admission.nearest_members(asker, V4, NEAREST if is_late else ASKED)

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

    def _place(self, peer: NodeId, host: str) -> None:
        self.prefixes[peer] = AddressPolicy().subnet(host) or b""

    def _part_of(self, attester: NodeId) -> Callable[[NodeId], bool]:
        return lambda peer: attester in self.admission.nearest_members(peer, V4, NEAREST)

    def _say(self, peer: NodeId) -> None:
        """Everybody hears whom a member names now."""
        lies = self._lies.get(peer)
        if lies is None:
            marks, days = self._names[peer].marks, self._names[peer].days
            claim = MembershipClaim(True, V4, marks_in(marks), days_in(marks, days))
        else:
            said = frozenset(map(mark_of, lies))
            claim = MembershipClaim(True, V4, said, dict.fromkeys(said, 1))
        self.admission.hear(peer, claim)
