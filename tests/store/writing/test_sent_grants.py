"""A grant is sent to each peer once, and again to one that refuses anything."""

from dht import Identity, NodeId
from store.writing.sent_grants import REMEMBERED, SentGrants
from tests.store.network import Net, network
from tests.store.support import draft, grant, proofs
from tests.store.writing.test_write_right import PAGES, started, write

A, B = NodeId(b"a" * 20), NodeId(b"b" * 20)
GRANTS = [grant(draft(n), Identity(bytes(32))) for n in range(3)]


def test_each_peer_gets_each_once_and_all_again_when_it_refuses() -> None:
    sent = SentGrants()
    assert sent.lacking(A, GRANTS) == (*GRANTS,)
    sent.note(A, GRANTS[:2])
    assert sent.lacking(A, GRANTS) == (GRANTS[2],)
    assert sent.lacking(B, GRANTS) == (*GRANTS,)
    sent.forget(A)
    assert sent.lacking(A, GRANTS) == (*GRANTS,)


def test_what_it_remembers_is_bounded() -> None:
    sent = SentGrants()
    for n in range(REMEMBERED + 1):
        sent.note(NodeId(n.to_bytes(20, "big")), GRANTS[:1])
    assert sent.lacking(NodeId(bytes(20)), GRANTS[:1])
    assert not sent.lacking(NodeId(REMEMBERED.to_bytes(20, "big")), GRANTS[:1])


def test_a_peer_that_lost_its_disk_is_sent_them_again() -> None:
    async def story(net: Net) -> None:
        await started(net, 3)
        await write(net, PAGES[:1], net.list[0], net.list[1])
        net.list[2].kill()
        net.list[2].wipe()
        net.list[2].start()
        await net.all_ready()
        await net.list[0].replicator.write(PAGES[:1])
        await net.until(lambda: bool(proofs(net.list[2].store, [_page(net)])))

    network(3, story)


def _page(net: Net):  # type: ignore[no-untyped-def]
    return net.list[0].store.find(PAGES[0].kind, PAGES[0].id)
