"""Who is admitted: by three names, or by as many members as share a family; roots for nothing; phantoms never."""

from random import Random

from dht.admission.attester_order import nearest_attesters
from dht.admission.inviters import Inviters
from dht.admission.member_admission import NEAR_ATTESTERS, MemberAdmission
from dht.admission.membership_claim import MembershipClaim, days_in, mark_of
from dht.keys import NodeId
from dht.wire.contact import Family

BOTH, V4, V6 = frozenset[Family]((4, 6)), frozenset[Family]((4,)), frozenset[Family]((6,))
OWN = NodeId(bytes(20))
A, B, C, D, E, F = (NodeId(bytes([n]) * 20) for n in range(1, 7))


def claim(*names: NodeId, families: frozenset[Family] = BOTH, member: bool = True) -> MembershipClaim:
    return MembershipClaim(member, families, frozenset(map(mark_of, names)))


def attested(*roots: NodeId) -> MemberAdmission:
    admission = MemberAdmission(OWN)
    admission.follow(True)
    admission.trust(roots)
    for root in roots:
        admission.hear(root, claim())
    return admission


def test_in_an_open_network_whoever_says_so_is_a_member() -> None:
    admission = MemberAdmission(OWN)
    assert admission.hear(A, claim()) == [A] and admission.is_member(A)
    assert admission.hear(B, claim(member=False)) == [B] and not admission.is_member(B)
    assert admission.hear(A, claim(member=False)) == [A] and not admission.is_member(A)


def test_three_names_make_a_member_and_one_keeps_it() -> None:
    admission = attested(A, B, C)
    admission.hear(D, claim())
    admission.hear(A, claim(D))
    admission.hear(B, claim(D))
    assert not admission.is_member(D) and admission.lacks(D) == 1
    assert admission.hear(C, claim(D)) == [D] and admission.is_member(D)
    admission.hear(A, claim())
    admission.forget(B)
    assert admission.is_member(D), "one name keeps it"
    assert admission.hear(C, claim()) == [D] and not admission.is_member(D)


def test_names_that_come_before_the_named_one_count_too() -> None:
    admission = attested(A, B, C)
    for root in (A, B, C):
        admission.hear(root, claim(D))
    assert admission.hear(D, claim()) == [D]


def test_each_admission_may_admit_others() -> None:
    admission = attested(A, B, C)
    admission.hear(E, claim())
    admission.hear(D, claim(E))
    admission.hear(A, claim(D, E))
    admission.hear(B, claim(D, E))
    assert set(admission.hear(C, claim(D))) == {D, E}
    assert admission.hear(D, claim()) == [], "two other names are there"


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
    for peer, names in ((A, (D, E, F)), (B, (D, E)), (C, (D,))):
        admission.hear(peer, claim(*names))
    for peer in (D, E, F):
        admission.hear(peer, claim())
    assert admission.vouched == {A, B, C, D, E, F}
    admission.hear(OWN, claim())
    admission.hear(C, claim(D, OWN))
    assert not admission.is_member(OWN), "for itself it asks for all"
    gone = admission.end_join(lambda peer: peer != F)
    assert gone == [E] and admission.is_member(D)
    assert admission.is_member(F), "who sleeps could not ask more members than there were"


def joined(*, own: MembershipClaim | None, **names: tuple[NodeId, ...]) -> MemberAdmission:
    """A newcomer with three roots that joins: C is silent, and what the others name follows."""
    admission = attested(A, B, C)
    admission.is_joining = True
    if own is not None:
        for root in (A, B, C):
            admission.hear(root, claim(OWN))
        admission.hear(OWN, own)
    for peer in (D, E, F):
        admission.hear(peer, claim(families=V6))
    for root, letter in ((A, "a"), (B, "b")):
        admission.hear(root, claim(OWN, *names.get(letter, ())))
    assert admission.is_member(OWN) is (own is not None)
    admission.end_join(lambda peer: peer != C)
    return admission


def test_a_newcomer_keeps_a_live_member_whose_last_name_only_a_silent_one_could_give() -> None:
    of_v4, of_both = claim(families=V4), claim()
    both_name_it: dict[str, tuple[NodeId, ...]] = {"a": (D, E), "b": (D,)}
    assert joined(own=of_v4, **both_name_it).is_member(D), "A and B are all that live and share a family with it"
    assert not joined(own=of_v4, **both_name_it).is_member(E), "one of them names it alone, and may lie"
    assert not joined(own=of_both, **both_name_it).is_member(D), "this node could have reached it and has not"
    assert not joined(own=None, **both_name_it).is_member(D), "who waits itself goes by what members do"


def waits_for_one_of_three(*named_by: NodeId, own: frozenset[Family] = V4) -> MemberAdmission:
    """Builds a network of this node, A and B, some of whom name C, which waits."""
    admission = attested(A, B)
    for root in (A, B):
        admission.hear(root, claim(OWN, *([C] if root in named_by else []), families=V4))
    admission.hear(OWN, claim(*([C] if OWN in named_by else []), families=own))
    admission.hear(C, claim(families=V4))
    assert admission.is_member(OWN) and not admission.is_member(C)
    return admission


def test_who_is_away_keeps_nobody_waiting_whom_all_others_name() -> None:
    admission = waits_for_one_of_three(OWN, A)
    assert admission.admit_despite_silence([C], lambda peer: True) == [], "B is there and has not reached it"
    assert admission.admit_despite_silence([C], lambda peer: peer != B) == [C] and admission.is_member(C)
    assert not admission.hear(B, claim(OWN, families=V4)), "it stays when B is back and does not name it yet"


def test_in_a_pair_the_one_that_is_there_lets_in_a_third() -> None:
    admission = attested(A)
    admission.hear(A, claim(OWN, families=V4))
    admission.hear(OWN, claim(B, families=V4))
    admission.hear(B, claim(families=V4))
    assert not admission.is_member(B) and admission.wanted(B, V4) == 2
    assert admission.admit_despite_silence([B], lambda peer: peer != A) == [B]


def test_a_newcomer_that_hears_of_silent_members_alone_waits() -> None:
    admission = attested(A)
    admission.hear(OWN, claim())
    assert admission.admit_despite_silence([], lambda peer: peer != A) == [] and not admission.is_member(OWN)


def test_who_has_not_reached_a_peer_itself_believes_no_single_member_while_others_are_away() -> None:
    admission = waits_for_one_of_three(A)
    assert admission.admit_despite_silence([C], lambda peer: peer != B) == [], "this node could have reached it"
    admission = waits_for_one_of_three(A, own=V6)
    assert admission.wanted(C, V4) == 2
    assert admission.admit_despite_silence([C], lambda peer: peer != B) == [], "one member alone may lie"


def test_a_newcomer_knows_itself_admitted_when_all_that_are_there_name_it() -> None:
    admission = attested(A, B, C)
    admission.hear(OWN, claim())
    admission.hear(A, claim(OWN))
    assert admission.admit_despite_silence([], lambda peer: peer != C) == [], "B is there too"
    admission.hear(B, claim(OWN))
    assert not admission.is_member(OWN)
    assert admission.admit_despite_silence([], lambda peer: peer != C) == [OWN] and admission.is_member(OWN)


def test_silence_of_members_keeps_no_phantom_that_one_liar_names() -> None:
    admission = attested(A, B, C)
    admission.is_joining = True
    for root in (A, B, C):
        admission.hear(root, claim(OWN))
    admission.hear(OWN, claim(families=V4))
    for phantom in (D, E):
        admission.hear(phantom, claim(families=V6))
    admission.hear(A, claim(OWN, D, E))
    assert {D, E} <= admission.vouched
    assert set(admission.end_join(lambda peer: peer in (OWN, A, D, E))) == {D, E}


def test_the_last_one_of_its_network_stays() -> None:
    admission = attested(A)
    admission.hear(OWN, claim())
    admission.hear(A, claim(OWN))
    assert admission.is_member(OWN)
    admission.forget(A)
    assert admission.is_member(OWN)


def test_a_node_that_starts_alone_in_an_attested_network_is_no_member_of_it() -> None:
    admission = MemberAdmission(OWN)
    admission.hear(OWN, claim())
    assert admission.is_member(OWN) and admission.follow(True) == [OWN]
    assert not admission.is_member(OWN) and admission.lacks(OWN) == 1
    admission.follow(False)
    assert admission.is_member(OWN)


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
        while more := [p for p in peers if p not in wanted and sum(p in names[a] for a in wanted) >= 3]:
            wanted.update(more)
        admission = MemberAdmission(OWN)
        admission.follow(True)
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


def test_in_a_large_network_five_of_the_sixteen_nearest_admit_and_all_others_do_not() -> None:
    admission, newcomer, ranked = town(100, namers=4)
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


def test_a_member_is_as_old_as_the_fifth_name_says_whatever_others_say() -> None:
    admission, newcomer, ranked = town(100, namers=6, day=20_000)
    assert admission.first_day(newcomer) == 20_000
    for liar in ranked[2 * NEAR_ATTESTERS :]:
        admission.hear(liar, dated(newcomer, 1))
    assert admission.first_day(newcomer) == 20_000, "those have no say"
    for liar in ranked[6:10]:
        admission.hear(liar, dated(newcomer, 1))
    assert admission.first_day(newcomer) == 20_000, "four of the nearest make nobody older"
    for liar in ranked[6 : 2 * NEAR_ATTESTERS]:
        admission.hear(liar, dated(newcomer, 20_001))
    assert admission.first_day(newcomer) == 20_000, "nor all others anybody younger"
    admission.hear(ranked[0], claim(newcomer))
    admission.hear(ranked[1], claim(newcomer))
    assert admission.first_day(newcomer) == 20_001
    for each in ranked:
        admission.hear(each, claim(newcomer))
    assert admission.first_day(newcomer) is None, "of older programs nobody learns an age"
    assert admission.first_day(NodeId(b"?" * 20)) is None, "nor of whom nobody knows"


def test_a_live_member_of_a_large_network_that_has_hardly_any_names_left_twice_is_dropped() -> None:
    admission, newcomer, ranked = town(100, namers=6)
    for each in ranked[2:6]:
        admission.hear(each, claim())
    admission.hear(ranked[50], claim(newcomer))
    assert admission.is_member(newcomer) and admission.sweep(lambda peer: True) == []
    assert admission.sweep(lambda peer: False) == [], "who sleeps cannot ask"
    assert admission.sweep(lambda peer: True) == []
    assert admission.sweep(lambda peer: True) == [newcomer] and not admission.is_member(newcomer)


def test_in_a_small_network_one_name_keeps_a_member_for_good() -> None:
    admission, newcomer, ranked = town(12, namers=3)
    for each in ranked[1:3]:
        admission.hear(each, claim())
    assert admission.sweep(lambda peer: True) == admission.sweep(lambda peer: True) == []
    assert admission.is_member(newcomer)


def test_each_mark_goes_with_its_day() -> None:
    marks = mark_of(A) + mark_of(B)
    assert days_in(marks, (20_000).to_bytes(2, "big") + (20_001).to_bytes(2, "big")) == {
        mark_of(A): 20_000,
        mark_of(B): 20_001,
    }
    assert days_in(marks, b"") == {}


def test_who_attests_follows_from_the_subject_alone() -> None:
    rng = Random(1)
    peers = [NodeId(rng.randbytes(20)) for _ in range(50)]
    chosen = nearest_attesters(peers[0], peers, 6)
    assert len(chosen) == 6 and peers[0] not in chosen
    assert chosen == nearest_attesters(peers[0], rng.sample(peers, 50), 12)[:6]
    assert chosen != nearest_attesters(peers[1], peers, 6)


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
    assert set(admission.follow(True, revoked)) == {D, E} and not {D, E} & admission.vouched
    assert admission.attesters(F) == frozenset()
    assert admission.hear(E, claim()) == [] and not admission.is_member(E), "saying no invitation helps no root"
    assert admission.follow(True, Inviters(True, revoked={BY_ONE[8:16]: 2.0})) == [D], "its voucher is older than that"


def test_the_own_node_is_out_too_when_what_invited_it_is_revoked() -> None:
    admission = attested(A, B, C)
    admission.trust([OWN])
    admission.hear(OWN, invited(by=BY_ONE))
    assert admission.is_member(OWN)
    assert admission.follow(True, Inviters(True, revoked={BY_ONE[:8]: 0.0})) == [OWN]
    assert not admission.is_member(OWN)


def test_of_more_guests_than_an_invitation_is_for_the_first_by_day_and_id_count() -> None:
    admission, today = attested(A, B, C), 20_000
    admission.follow(True, Inviters(True))
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
    admission.follow(True)
    assert not admission.is_one_too_many(F, BY_ONE, today), "nobody counts where none is needed"
    admission.follow(True, Inviters(True))
    assert not admission.is_one_too_many(F, BY_OTHER, today) and not admission.is_one_too_many(F, b"", today)
    admission.forget(E)
    assert admission.guests.of(BY_ONE) == {D, F} and not admission.is_one_too_many(F, BY_ONE, today)
