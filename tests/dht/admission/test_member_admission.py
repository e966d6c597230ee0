"""Admission: three names, two in networks of up to 16 and one in a pair; roots need none; phantoms never get in."""

from random import Random

from dht.admission.attester_order import nearest_attesters
from dht.admission.inviters import NO_INVITERS, Inviters
from dht.admission.member_admission import NEAR_ATTESTERS, MemberAdmission, cut_off_by_one, last_old_day
from dht.admission.membership_claim import MembershipClaim, days_in, mark_of
from dht.clock import DAY_S, Now
from dht.keys import NodeId
from dht.wire.contact import Family

BOTH, V4, V6 = frozenset[Family]((4, 6)), frozenset[Family]((4,)), frozenset[Family]((6,))
OWN = NodeId(bytes(20))
A, B, C, D, E, F = (NodeId(bytes([n]) * 20) for n in range(1, 7))


def claim(*names: NodeId, families: frozenset[Family] = BOTH, member: bool = True) -> MembershipClaim:
    return MembershipClaim(member, families, frozenset(map(mark_of, names)))


def attested(*roots: NodeId) -> MemberAdmission:
    admission = MemberAdmission(OWN)
    admission.trust(roots)
    for root in roots:
        admission.hear(root, claim())
    return admission


def test_two_names_make_a_member_of_a_small_network_and_one_keeps_it() -> None:
    admission = attested(A, B, C)
    admission.hear(D, claim())
    admission.hear(A, claim(D))
    assert not admission.is_member(D) and admission.lacks(D) == 1
    assert admission.hear(B, claim(D)) == [D] and admission.is_member(D)
    assert admission.hear(C, claim(D)) == [] and admission.lacks(D) == -1
    admission.hear(A, claim())
    admission.forget(B)
    assert admission.is_member(D), "one name keeps it"
    assert admission.hear(C, claim()) == [D] and not admission.is_member(D)


def test_phantoms_that_name_each_other_and_everybody_stay_outside() -> None:
    admission = attested(A, B, C)
    for phantom in (D, E, F):
        assert admission.hear(phantom, claim(A, B, C, D, E, F)) == []
    admission.hear(A, claim(D))  # one member lies
    assert admission.vouched == {A, B, C}


def test_nobody_names_itself() -> None:
    admission = attested(A)
    assert admission.hear(B, claim(B)) == []
    assert admission.hear(A, claim(A, B)) == [B]
    assert admission.attesters(A) == frozenset()


def test_as_many_names_do_as_members_share_a_family() -> None:
    admission = attested(A)
    admission.hear(OWN, claim(families=V4))
    admission.hear(B, claim(families=V4))
    admission.hear(A, claim(B))
    assert admission.is_member(B), "the first one needs the founder alone"
    admission.hear(C, claim(families=V4))
    admission.hear(A, claim(B, C))
    assert not admission.is_member(C) and admission.wanted(C, V4) == 2
    admission.hear(B, claim(C, families=V4))
    assert admission.is_member(C)
    admission.hear(D, claim(families=V6))
    assert admission.wanted(D, V6) == 1
    admission.hear(A, claim(B, C, D))
    assert admission.is_member(D), "a node of the other family needs the only member that has it too"


def test_a_newcomer_takes_one_name_while_it_joins_and_then_asks_for_as_many_as_others() -> None:
    admission = attested(A, B, C)
    admission.is_joining = True
    for peer, names in ((A, (D, E, F)), (B, (D, F))):
        admission.hear(peer, claim(*names))
    for peer in (D, E, F):
        admission.hear(peer, claim())
    assert admission.vouched == {A, B, C, D, E, F}
    admission.hear(OWN, claim())
    admission.hear(C, claim(OWN))
    assert not admission.is_member(OWN), "for itself it asks for all"
    admission.hear(B, claim(D, F, OWN))
    assert admission.end_join(lambda peer: True) == [E] and admission.vouched == {OWN, A, B, C, D, F}


def joining(*roots: NodeId, **names: tuple[NodeId, ...]) -> MemberAdmission:
    """A newcomer that joins by some roots, and hears of A … F, which name others as follows; A names it, too."""
    admission = attested(*roots)
    admission.is_joining = True
    admission.hear(OWN, claim())
    for peer, letter in zip((A, B, C, D, E, F), "abcdef", strict=True):
        admission.hear(peer, claim(*names.get(letter, ()), *([OWN] if peer in (A, C) else [])))
    return admission


def test_a_newcomer_drops_a_clique_that_one_liar_names_and_keeps_sleepers_that_two_name() -> None:
    admission = joining(A, B, C, a=(D, E, F), d=(E, F), e=(D, F), f=(D, E))
    assert set(admission.end_join(lambda peer: True)) == {D, E, F}
    admission = joining(A, B, C, a=(D, E, F), b=(D,), d=(E, F), e=(D, F), f=(D, E))
    assert admission.end_join(lambda peer: peer != D) == [], "D is reached by two, and names E and F beside A"


def test_a_newcomer_believes_its_only_root_and_bare_bootstrap_nodes() -> None:
    admission = joining(A, a=(B, C), b=(C,), c=(B, D, E, F), d=(E, F), e=(D, F), f=(D, E))
    assert set(admission.end_join(lambda peer: True)) == {D, E, F}, "A names none of them, and C alone leads there"
    admission = attested()
    admission.trust([A])
    admission.hear(A, claim(B, C, OWN, member=False))
    for peer, names in ((B, (C, OWN)), (C, (B,)), (OWN, ())):
        admission.hear(peer, claim(*names))
    admission.is_joining = True
    assert admission.end_join(lambda peer: True) == []


def test_a_newcomer_whose_roots_name_few_believes_what_leads_to_itself() -> None:
    admission = attested(A, B)
    admission.is_joining = True
    admission.hear(OWN, claim())
    admission.hear(A, claim(C, D, OWN))
    admission.hear(C, claim(D))
    admission.hear(D, claim(C))
    assert admission.end_join(lambda peer: True) == [] and {C, D} <= admission.vouched


def in_a_pair(own: MembershipClaim, *named: NodeId) -> MemberAdmission:
    """A network of A and B; A names some."""
    admission = attested(A, B)
    admission.hear(A, claim(*named))
    admission.hear(OWN, own)
    for peer in (C, D):
        admission.hear(peer, claim())
    return admission


def test_a_newcomer_of_a_pair_is_admitted_by_the_one_that_is_there() -> None:
    admission = in_a_pair(claim(), OWN, C)
    assert admission.admit_beside_silent([C], lambda peer: True) == [], "B is there and has not reached it"
    assert admission.admit_beside_silent([C], lambda peer: peer == B) == [], "B names nobody"
    assert admission.admit_beside_silent([C], lambda peer: peer not in (A, B)) == []
    assert admission.admit_beside_silent([C], lambda peer: peer != B) == [OWN] and admission.is_member(OWN)
    assert admission.admit_beside_silent([C], lambda peer: peer != B) == [], "it is no pair any more"


def test_in_a_pair_the_one_that_is_there_lets_in_a_third() -> None:
    admission = attested(A)
    admission.hear(A, claim(OWN, families=V4))
    admission.hear(OWN, claim(B, families=V4))
    admission.hear(B, claim(families=V4))
    assert not admission.is_member(B) and admission.wanted(B, V4) == 2
    assert admission.admit_beside_silent([B], lambda peer: peer != A) == [B]


def test_the_last_one_of_its_network_stays() -> None:
    admission = attested(A)
    admission.hear(OWN, claim())
    admission.hear(A, claim(OWN))
    assert admission.is_member(OWN)
    admission.forget(A)
    assert admission.is_member(OWN)


def test_a_node_that_starts_alone_is_no_member_unless_it_is_the_founder() -> None:
    admission = MemberAdmission(OWN)
    admission.hear(OWN, claim())
    assert not admission.is_member(OWN) and admission.lacks(OWN) == 1
    assert admission.trust([OWN]) == [OWN] and admission.is_member(OWN)


def test_a_bare_bootstrap_node_is_vouched_for_as_a_root_alone_and_its_names_count() -> None:
    admission = attested()
    admission.hear(A, claim(B, member=False))
    admission.hear(B, claim())
    assert not admission.vouched
    assert set(admission.trust([A])) == {A, B}
    assert not admission.is_member(A) and admission.is_bare(A) and admission.is_member(B)


def test_whatever_comes_first_the_same_are_admitted() -> None:
    """Three roots and 13 others that name some of each other, in any order; the oracle starts from the roots."""
    for seed in range(60):
        rng = Random(seed)
        peers = [NodeId(rng.randbytes(20)) for _ in range(16)]
        names = {peer: rng.sample(peers, rng.randrange(8)) for peer in peers}
        wanted = set(peers[:3])
        while more := [p for p in peers if p not in wanted and sum(p in names[a] for a in wanted) >= 2]:
            wanted.update(more)
        admission = MemberAdmission(OWN)
        admission.trust(peers[:3])
        for peer in peers[:3]:  # so that three members are there who may name
            admission.hear(peer, claim())
        for peer in rng.sample(peers, len(peers)):
            admission.hear(peer, claim(*names[peer]))
        assert admission.vouched == wanted


def town(count: int, *, namers: int = 0, day: int = 0) -> tuple[MemberAdmission, NodeId, list[NodeId]]:
    """A network, a newcomer, and the members by how near they are to its point; so many of the nearest name it."""
    rng = Random(count)
    newcomer, *members = (NodeId(rng.randbytes(20)) for _ in range(count + 1))
    ranked = nearest_attesters(newcomer, members, count)
    admission = attested(*members)
    admission.hear(newcomer, claim())
    for each in ranked[:namers]:
        admission.hear(each, dated(newcomer, day))
    return admission, newcomer, ranked


def dated(peer: NodeId, day: int) -> MembershipClaim:
    return claim(peer)._replace(days={mark_of(peer): day})


def test_in_a_large_network_three_of_the_sixteen_nearest_admit_and_all_others_do_not() -> None:
    admission, newcomer, ranked = town(100, namers=2)
    assert admission.nearest_members(newcomer, BOTH) == ranked[:NEAR_ATTESTERS]
    for each in ranked[NEAR_ATTESTERS:]:
        assert admission.hear(each, claim(newcomer)) == []
    assert admission.lacks(newcomer) == 1
    assert admission.hear(ranked[NEAR_ATTESTERS - 1], claim(newcomer)) == [newcomer]
    assert admission.lacks(newcomer) == 0


def test_of_the_sixteen_nearest_are_those_alone_that_share_a_family() -> None:
    admission, newcomer, ranked = town(100)
    admission.hear(newcomer, claim(families=V6))
    for each in ranked[::2]:
        admission.hear(each, claim(families=V4))
    assert admission.nearest_members(newcomer, V6) == ranked[1 : 2 * NEAR_ATTESTERS : 2]


def test_a_member_is_as_old_as_the_third_name_says_whatever_others_say() -> None:
    admission, newcomer, ranked = town(100, namers=4, day=20_000)
    assert admission.first_day(newcomer) == 20_000
    for liar in ranked[2 * NEAR_ATTESTERS :]:
        admission.hear(liar, dated(newcomer, 1))
    assert admission.first_day(newcomer) == 20_000, "those have no say"
    for liar in ranked[4:6]:
        admission.hear(liar, dated(newcomer, 1))
    assert admission.first_day(newcomer) == 20_000, "two of the nearest make nobody older"
    for liar in ranked[4 : 2 * NEAR_ATTESTERS]:
        admission.hear(liar, dated(newcomer, 20_001))
    assert admission.first_day(newcomer) == 20_000, "nor all others anybody younger"
    admission.hear(ranked[0], claim(newcomer))
    admission.hear(ranked[1], claim(newcomer))
    assert admission.first_day(newcomer) == 20_001
    for each in ranked:
        admission.hear(each, claim(newcomer))
    assert admission.first_day(newcomer) is None, "a name without a day makes nobody older"
    assert admission.first_day(NodeId(b"?" * 20)) is None, "nor of whom nobody knows"


def test_in_a_network_of_any_size_one_name_keeps_a_member() -> None:
    for count, wanted in ((12, 2), (16, 2), (17, 3), (100, 3)):
        admission, newcomer, ranked = town(count, namers=wanted)
        assert admission.wanted(newcomer, BOTH) == wanted and admission.is_member(newcomer)
        for each in ranked[1:wanted]:
            admission.hear(each, claim())
        assert admission.is_member(newcomer)


def test_where_many_are_old_newcomers_of_the_last_day_are_young() -> None:
    assert last_old_day(Now(30 * DAY_S, 0.0), 7, 0.0) == 22
    assert last_old_day(Now(31 * DAY_S - 1, 0.0), 7, 0.0) == 22, "it changes at midnight, for all at once"
    assert last_old_day(Now(31 * DAY_S, 0.0), 7, 0.0) == 23


def test_who_came_while_the_network_was_young_is_as_old_as_it() -> None:
    began_at = 10.5 * DAY_S
    assert last_old_day(Now(17.4 * DAY_S, 0.0), 7, began_at) is None
    assert last_old_day(Now(17.5 * DAY_S, 0.0), 7, began_at) == 17
    assert last_old_day(Now(24.0 * DAY_S, 0.0), 7, began_at) == 17
    assert last_old_day(Now(27.0 * DAY_S, 0.0), 7, began_at) == 19
    assert last_old_day(Now(27.0 * DAY_S, 0.0), 0, began_at) is None, "no rule"


def test_each_mark_goes_with_its_day() -> None:
    marks = mark_of(A) + mark_of(B)
    assert days_in(marks, (20_000).to_bytes(2, "big") + (20_001).to_bytes(2, "big")) == {
        mark_of(A): 20_000,
        mark_of(B): 20_001,
    }
    assert days_in(marks, b"") == {}


def invited(*names: NodeId, by: bytes) -> MembershipClaim:
    return claim(*names)._replace(invited_by=by)


BY_ONE, BY_OTHER = b"voucher1inviter1\0\0\0\1\0\2", b"voucher2inviter2\0\0\0\1\0\1"


def naming(admission: MemberAdmission, *marks: bytes) -> None:
    for root in (A, B, C):
        admission.hear(root, MembershipClaim(True, BOTH, frozenset(marks)))


def test_a_name_counts_for_the_invitation_that_its_giver_saw_and_for_no_other() -> None:
    admission = attested(A, B, C)
    naming(admission, mark_of(D, BY_ONE), mark_of(E))
    assert admission.hear(D, invited(by=BY_ONE)) == [D] and admission.is_member(D)
    assert admission.find(mark_of(D, BY_ONE)) == D and admission.find(mark_of(D)) is None
    assert admission.hear(D, invited(by=BY_OTHER)) == [D] and not admission.is_member(D)
    assert admission.hear(D, invited(by=BY_ONE)) == [D]
    assert admission.hear(D, claim()) == [D], "nor does it for who says none"
    assert admission.hear(E, invited(by=BY_ONE)) == [] and not admission.is_member(E), "named without one"


def test_whom_a_revoked_inviter_let_in_is_out_with_its_names_be_it_a_root() -> None:
    admission = attested(A, B, C)
    admission.trust([E])
    naming(admission, mark_of(D, BY_ONE))
    admission.hear(E, invited(by=BY_ONE))
    admission.hear(D, invited(F, by=BY_ONE))
    assert {D, E} <= admission.vouched
    revoked = Inviters(True, revoked={BY_ONE[8:16]: 1.0})
    assert set(admission.follow(revoked)) == {D, E} and not {D, E} & admission.vouched
    assert admission.attesters(F) == frozenset()
    assert admission.hear(E, claim()) == [] and not admission.is_member(E), "saying no invitation helps no root"
    assert admission.follow(Inviters(True, revoked={BY_ONE[8:16]: 2.0})) == [D], "its voucher is older than that"


def test_the_own_node_is_out_too_when_what_invited_it_is_revoked() -> None:
    admission = attested(A, B, C)
    admission.trust([OWN])
    admission.hear(OWN, invited(by=BY_ONE))
    assert admission.is_member(OWN)
    assert admission.follow(Inviters(True, revoked={BY_ONE[:8]: 0.0})) == [OWN]
    assert not admission.is_member(OWN)


def test_of_more_guests_than_an_invitation_is_for_the_first_by_day_and_id_count() -> None:
    admission, today = attested(A, B, C), 20_000
    admission.follow(Inviters(True))
    guests = [D, E, F]
    days = {mark_of(D, BY_ONE): today, mark_of(E, BY_ONE): today - 5, mark_of(F, BY_ONE): today}
    for root in (A, B, C):
        admission.hear(root, MembershipClaim(True, BOTH, frozenset(days), days))
    for guest in guests[:2]:
        admission.hear(guest, invited(by=BY_ONE))
    assert admission.guests.of(BY_ONE) == {D, E} and not admission.is_one_too_many(D, BY_ONE, today)
    assert admission.is_one_too_many(F, BY_ONE, today), "it is for two, who are there"
    admission.hear(F, invited(by=BY_ONE))
    assert [admission.is_one_too_many(each, BY_ONE, today) for each in guests] == [False, False, True]
    admission.follow(NO_INVITERS)
    assert not admission.is_one_too_many(F, BY_ONE, today), "nobody counts where none is needed"
    admission.follow(Inviters(True))
    assert not admission.is_one_too_many(F, BY_OTHER, today) and not admission.is_one_too_many(F, b"", today)
    admission.forget(E)
    assert admission.guests.of(BY_ONE) == {D, F} and not admission.is_one_too_many(F, BY_ONE, today)


def reached(names: dict[NodeId, list[NodeId]], starts: set[NodeId], without: NodeId | None) -> set[NodeId]:
    queue = [each for each in starts if each != without]
    for each in queue:
        queue += [peer for peer in names[each] if peer != without and peer not in queue]
    return set(queue)


def test_those_are_cut_off_that_are_not_reached_without_some_node() -> None:
    for seed in range(300):
        rng = Random(seed)
        nodes = [NodeId(rng.randbytes(20)) for _ in range(12)]
        names = {node: rng.sample(nodes, rng.randrange(4)) for node in nodes}
        starts = set(nodes[: rng.randrange(1, 4)])
        wanted = {
            peer
            for peer in nodes
            if peer not in starts
            and any(peer not in reached(names, starts, each) for each in (None, *nodes) if each != peer)
        }
        assert cut_off_by_one(names, starts) == wanted


def test_a_liar_cuts_off_whatever_it_invented_however_much_that_is() -> None:
    nodes = [NodeId(bytes([n]) * 20) for n in range(40)]
    honest, liar, ghosts = nodes[:10], nodes[9], nodes[10:]
    names = {node: [each for each in honest if each != node] for node in honest}
    names |= dict.fromkeys(ghosts, nodes)
    names[liar] = nodes
    assert cut_off_by_one(names, set(honest[:2])) == set(ghosts)
    assert cut_off_by_one(names, {liar, honest[0]}) == set(ghosts)
