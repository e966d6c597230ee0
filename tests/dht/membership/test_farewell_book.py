"""Farewells and returns alone decide which members are not counted; a farewell that has ended counts for nothing."""

from msgspec.structs import replace

from dht import Identity, NodeId
from dht.membership.farewell_book import KEPT, FarewellBook
from dht.wire.farewell import DECLARED, Farewell, sign_farewell
from dht.wire.heartbeat import Heartbeat

NETWORK = b"n" * 20
ME, ANN, BOB = (Identity(bytes([n]) * 32) for n in range(1, 4))
ALL = frozenset([ME.node_id, ANN.node_id, BOB.node_id])
OTHERS = ALL - {ME.node_id}
NOBODY = frozenset[NodeId]()
NOW = 6000.0


def farewell(who: Identity, at_s: int) -> Farewell:
    return sign_farewell(who, NETWORK, at_s, at_s)


def beat(who: Identity, at_s: int, said: Farewell | None = None) -> Heartbeat:
    return Heartbeat(who.public_key, at_s, float(at_s), at_s + 60.0, (), farewell=said)


def hear(book: FarewellBook, who: Identity, at_s: int, said: Farewell | None = None, *, is_whole: bool = True) -> None:
    book.hear(who.node_id, beat(who, at_s, said), is_whole=is_whole)


def test_a_member_is_away_from_its_farewell_until_it_is_heard_without_it() -> None:
    book, said = FarewellBook(ME.node_id), farewell(ANN, 100)
    hear(book, ANN, 99)
    assert not book.away
    hear(book, ANN, 100, said)
    hear(book, ANN, 200, said)  # it has started again, and has no vote
    hear(book, ANN, 100)  # an old one that comes late
    assert book.away == {ANN.node_id} and book.proof(ANN.node_id) == said
    hear(book, ANN, 201)
    hear(book, ANN, 150, said)
    assert not book.away and book.proof(ANN.node_id) is None
    assert not FarewellBook(ME.node_id, book.items()).away, "nor after a start"


def test_hearsay_does_not_leave_a_node_alone_that_does_not_hear_all_others() -> None:
    book = FarewellBook(ME.node_id)
    hear(book, ANN, 100, farewell(ANN, 100), is_whole=False)
    assert not book.away
    book.part(farewell(ANN, 100))
    assert book.away == {ANN.node_id}


def test_what_an_owner_declared_lasts_until_the_member_is_heard_and_ends_the_wait_after_an_own_farewell() -> None:
    book = FarewellBook(ME.node_id)
    book.part(farewell(ME, 90), [ANN.node_id])
    hear(book, ANN, 100)
    assert not book.is_over(NOBODY, NOBODY, NOBODY, NOBODY)
    book.part(Farewell(NETWORK, ANN.public_key, 100, 130, DECLARED))
    hear(book, ANN, 100)
    assert ANN.node_id in book.away and book.is_over(NOBODY, NOBODY, NOBODY, NOBODY)
    hear(book, ANN, 101)
    assert ANN.node_id not in book.away and not book.is_over(NOBODY, NOBODY, NOBODY, NOBODY)


def test_a_grant_may_use_a_farewell_only_from_before_the_return() -> None:
    book, said = FarewellBook(ME.node_id), farewell(ANN, 100)
    book.part(said)
    assert book.counts(said, 5000, beat(ANN, 100, said), NOW)
    hear(book, ANN, 300)
    for kept in (book, FarewellBook(ME.node_id, book.items())):
        assert kept.counts(said, 299, beat(ANN, 900), NOW) and not kept.counts(said, 300, beat(ANN, 900), NOW)
    stranger = FarewellBook(BOB.node_id)
    assert stranger.counts(said, 200, None, NOW) and stranger.counts(said, 200, beat(ANN, 90), NOW)
    assert stranger.counts(said, 200, beat(ANN, 400, said), NOW), "she says it still"
    assert not stranger.counts(said, 200, beat(ANN, 400), NOW), "nobody can tell when she returned"


def test_a_node_that_lost_its_farewell_with_its_disk_takes_it_as_over_since_it_met_it() -> None:
    lost, older = farewell(ME, 300), farewell(ME, 100)
    book = FarewellBook(ME.node_id)
    assert book.counts(lost, 400, None, NOW) and ME.node_id not in book.away
    for kept in (book, FarewellBook(ME.node_id, book.items())):
        assert kept.counts(lost, 400, None, NOW + 900) and not kept.counts(lost, int(NOW), None, NOW + 900)
        assert not kept.counts(older, 200, None, NOW), "its disk is newer than that"
    away = FarewellBook(ME.node_id)
    away.part(older)
    assert not away.counts(lost, 400, None, NOW) and ME.node_id in away.away, "it has to be compared first"


def test_a_farewell_right_after_a_return_ends_the_one_before_it() -> None:
    book, first, second = FarewellBook(ME.node_id), farewell(ANN, 100), farewell(ANN, 300)
    hear(book, ANN, 100, first)
    hear(book, ANN, 300, second)
    assert book.proof(ANN.node_id) == second
    assert book.counts(first, 299, None, NOW) and not book.counts(first, 300, None, NOW)
    book.part(first)
    assert book.proof(ANN.node_id) == second


def test_the_last_farewells_of_each_are_kept() -> None:
    book = FarewellBook(ME.node_id)
    for n in range(1, KEPT + 3):
        book.part(farewell(ANN, 100 * n))
        hear(book, ANN, 100 * n + 50)
    assert [parting.farewell.at_s for parting in book.items()] == [100 * n for n in range(3, KEPT + 3)]


def test_a_node_has_its_vote_back_once_it_was_compared_with_one_that_went_on_or_with_all() -> None:
    book = FarewellBook(ME.node_id)

    def is_over(live: frozenset[NodeId], compared: frozenset[NodeId], gone: frozenset[NodeId] = NOBODY) -> bool:
        return book.is_over(live, live - book.away, gone, compared)

    assert is_over(NOBODY, NOBODY), "it said none"
    book.part(farewell(ME, 100), sorted(OTHERS))
    assert not is_over(NOBODY, NOBODY) and not is_over(OTHERS, NOBODY)
    assert is_over(OTHERS, frozenset([ANN.node_id])), "one that has a vote is enough"
    book.part(farewell(ANN, 101))
    assert not is_over(OTHERS, frozenset([ANN.node_id])), "she has none either, and Bob may have gone on"
    assert not is_over(frozenset([ANN.node_id]), frozenset([ANN.node_id]))
    assert is_over(frozenset([ANN.node_id]), frozenset([ANN.node_id]), frozenset([BOB.node_id])), "Bob is gone for good"
    book.part(farewell(BOB, 102))
    assert not is_over(OTHERS, frozenset([ANN.node_id])) and is_over(OTHERS, OTHERS), "nobody went on"
    book.returned(ME.node_id, 500.0)
    assert is_over(NOBODY, NOBODY)
    assert not FarewellBook(ME.node_id, [replace(p, returned_s=0) for p in book.items()]).is_over(
        NOBODY, NOBODY, NOBODY, NOBODY
    )
