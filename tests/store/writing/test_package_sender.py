"""When a peer that has not answered is late, and which grants it has been sent."""

import asyncio
from dataclasses import replace

from dht import Identity, NodeId
from store.writing.budget_keeper import LOOK_EVERY_S
from store.writing.package_sender import LEAST_S, MOST_PEERS, MOST_S, MOST_SENT, UNKNOWN_S, PutTimes, SentGrants
from tests.store.network import Net, in_network
from tests.store.replication.granted_pages import started
from tests.store.support import draft, grant, proofs
from tests.store.writing.test_write_right import PAGES, write

NEAR, FAR, NEW = (NodeId(bytes([n]) * 20) for n in range(3))


def test_patience_follows_what_a_peer_takes_within_bounds() -> None:
    times = PutTimes()
    assert times.patience_s([NEW]) == UNKNOWN_S and times.patience_s([]) == LEAST_S
    for n in range(50):
        times.note(NEAR, 0.01)
        times.note(FAR, 0.40 + 0.05 * (n % 2))
    assert times.patience_s([NEAR]) == LEAST_S
    assert 0.45 < times.patience_s([FAR, NEAR]) < 0.6
    for _ in range(3):
        times.note(FAR, 5.0)
    assert times.patience_s([FAR]) == MOST_S
    for _ in range(30):
        times.note(FAR, 0.4)
    assert times.patience_s([FAR]) < 0.7, "forgotten after a while"


def test_one_put_that_took_long_makes_nobody_wait_for_the_peer_next_time() -> None:
    times = PutTimes()
    for _ in range(20):
        times.note(NEAR, 0.05)
    times.note(NEAR, 4.0)
    times.note(NEW, 4.0)
    assert times.patience_s([NEAR]) < 1.0 and times.patience_s([NEW]) <= 1.5
    for _ in range(3):
        times.note(NEW, 4.0)
    assert times.patience_s([NEW]) == MOST_S, "it is slow"


def test_only_so_many_peers_are_remembered() -> None:
    times = PutTimes()
    for _ in range(20):
        times.note(NEAR, 0.01)
    for n in range(MOST_PEERS):
        times.note(NodeId(b"x" + n.to_bytes(19, "big")), 0.01)
    assert times.patience_s([NEAR]) == UNKNOWN_S


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
    for n in range(MOST_SENT + 1):
        sent.note(NodeId(n.to_bytes(20, "big")), GRANTS[:1])
    assert sent.lacking(NodeId(bytes(20)), GRANTS[:1])
    assert not sent.lacking(NodeId(MOST_SENT.to_bytes(20, "big")), GRANTS[:1])


@in_network(3)
async def test_a_peer_whose_disk_takes_nothing_counts_as_full_for_a_day(net: Net) -> None:
    full = net.list[2]
    full.config = replace(full.config, quota_bytes=1)
    await started(net, 3)
    await write(net, PAGES[:1], net.list[0], net.list[1])
    await asyncio.sleep(LOOK_EVERY_S)
    writer = net.list[0]
    (found,) = writer.replicator.without_room().items()
    assert found[0] == full.id == next(iter(writer.overlay.full)) and "took no record" in found[1][1]
    writer.slept_s += 86_400.0
    assert not writer.replicator.without_room()


@in_network(3)
async def test_a_peer_that_lost_its_disk_is_sent_them_again(net: Net) -> None:
    await started(net, 3)
    await write(net, PAGES[:1], net.list[0], net.list[1])
    net.list[2].kill()
    net.list[2].wipe()
    net.list[2].start()
    await net.all_ready()
    await net.list[0].replicator.write(PAGES[:1])
    await net.until(lambda: bool(proofs(net.list[2].store, [_page(net)])))


def _page(net: Net):  # type: ignore[no-untyped-def]
    return net.list[0].store.find(PAGES[0].kind, PAGES[0].id)
