"""A peer is told what is news to it, and all again once it has started anew."""

from dht import NodeId, Slot
from index import InflowMessage, SlotStatement
from node.ranking.messages import RankExchange, RankReply, hosts_word, leads_in
from node.ranking.peer_news import MOST_BYTES, PeerNews

PEER, OTHER = NodeId(b"p" * 20), NodeId(b"o" * 20)
SAID = SlotStatement(3, 5, 1.0, 9.0, 12, 10.5, 0.0, 0.0, {})


def news() -> PeerNews:
    found = PeerNews(run=77, slot_bits=4)
    found.keep({Slot(3): 5}, {PEER, OTHER})
    found.statements[Slot(3)] = SAID
    found.documents = {Slot(3): 8, Slot(4): 2}
    return found


def heard(found: PeerNews, reply: RankReply, peer: NodeId = PEER) -> RankExchange:
    exchange = found.exchange(peer, ())
    assert exchange is not None
    found.note_reply(peer, exchange, reply)
    return exchange


def test_what_was_taken_is_told_once() -> None:
    found = news()
    first = heard(found, RankReply(1))
    assert (first.slot_bits, first.run, first.begun, first.documents) == (4, 77, ((3, 5),), ((3, 8), (4, 2)))
    assert [word.slot for word in first.statements] == [3]
    assert found.exchange(PEER, ()) is None
    found.documents[Slot(4)] = 3
    second = heard(found, RankReply(1))
    assert (second.begun, second.statements, second.documents) == ((), (), ((4, 3),))
    assert found.exchange(OTHER, ()) is not None, "another peer was told nothing"


def test_what_was_not_taken_is_told_again() -> None:
    found = news()
    heard(found, RankReply(1, unheard=(3,)))
    again = heard(found, RankReply(1))
    assert (again.begun, len(again.statements), again.documents) == (((3, 5),), 1, ((3, 8),))


def test_a_peer_that_started_anew_is_told_all() -> None:
    found = news()
    heard(found, RankReply(1))
    found.note_run(PEER, 1)
    assert found.exchange(PEER, ()) is None
    found.note_run(PEER, 2)
    assert found.exchange(PEER, ()) is not None


def test_a_message_has_bounds() -> None:
    part = InflowMessage(3, 4, 5, 1, 0, b"\0" * 300_000, b"\0" * 200_000)
    exchange = news().exchange(PEER, [part] * 9)
    assert exchange is not None
    assert len(exchange.inflows) == MOST_BYTES // 500_000 + 1


def test_who_gives_to_what_leads_elsewhere_is_told_where_once_and_again_when_that_changes() -> None:
    found = news()
    page = 3 << 60
    found.leads = {page: 77}
    heard(found, RankReply(1))
    exchange = found.exchange(PEER, (), [page])
    assert exchange is not None and leads_in(exchange.leads[0], 4) == [(page, 77)]
    assert (exchange.leads[0].slot, exchange.leads[0].epoch) == (3, 5)
    found.note_reply(PEER, exchange, RankReply(1))
    assert found.exchange(PEER, (), [page]) is None, "it was told, and will act upon it"
    found.note_led_elsewhere({page})
    assert found.exchange(PEER, ()) is None, "it leads where it did"
    found.leads = {}
    found.note_led_elsewhere({page})
    again = found.exchange(PEER, ())
    assert again is not None and leads_in(again.leads[0], 4) == [(page, page)], "it is a page by now"
    found.note_reply(PEER, again, RankReply(1))
    assert found.exchange(PEER, ()) is None


def test_hosts_are_told_once_and_anew_when_they_change() -> None:
    found = news()
    found.hosts[Slot(3)] = hosts_word(3, 5, {"a.test": ["b.test"]})
    assert [word.slot for word in heard(found, RankReply(1, unheard=(3,))).hosts] == [3]
    assert len(heard(found, RankReply(1)).hosts) == 1, "it was not taken"
    assert found.exchange(PEER, ()) is None
    found.hosts[Slot(3)] = hosts_word(3, 5, {"a.test": ["c.test"]})
    assert len(heard(found, RankReply(1)).hosts) == 1
    found.keep({}, {PEER})
    assert found.hosts == {}, "another holds the slot"
