"""Nothing proves that a record does not exist, or that it is the newest: readers ask twice, and leave liars alone."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from dht import Key, slot_of
from dht.audit.sampling import FIRST, Topic
from store import Draft, Kind, Record
from store.record.messages import FetchRecords, FetchReply
from store.record.package import open_package, pack
from tests.store.network import Net, Node, in_network, network
from tests.store.support import draft, grant, records

COUNT = 80
OLD_S = 100.0  # honest copies have had the records for so long
NEWER = 10.0  # seconds between two versions


def lie(node: Node, alter: Callable[[FetchReply], FetchReply]) -> None:
    """Have a node answer reads of records with something else."""
    truth = node.overlay.handlers[FetchRecords]

    async def lying(peer: bytes, message: FetchRecords) -> FetchReply:
        return alter(await truth(peer, message))  # type: ignore[arg-type,return-value]

    node.overlay.handlers[FetchRecords] = lying  # type: ignore[assignment]


async def written(net: Net, drafts: list[Draft]) -> None:
    net.config(step_s=5.0)  # calmer looks, for shorter tests
    await net.start()
    await net.list[0].replicator.write(drafts)
    await net.until(net.is_level)
    await asyncio.sleep(OLD_S)


def elsewhere(net: Net, reader: Node, liar: Node, drafts: list[Draft]) -> list[Draft]:
    """Those of the records that lie at the liar's, and not at the reader's."""
    held = lambda node, d: node.store.find_version(d.kind, d.id) is not None  # noqa: E731
    return [d for d in drafts if held(liar, d) and not held(reader, d)]


async def read(node: Node, d: Draft) -> Record | None:
    return await node.replicator.read(d.kind, d.id, Key(d.key), content=False)


@in_network(5)
async def test_a_replica_that_hides_records_hides_them_from_nobody_and_is_found_out(net: Net) -> None:
    drafts = [draft(n) for n in range(COUNT)]
    await written(net, drafts)
    reader, liar = net.list[0], net.list[4]
    hidden = elsewhere(net, reader, liar, drafts)
    assert len(hidden) > 5
    lie(liar, lambda reply: FetchReply(pack([])))
    for d in hidden:
        assert await read(reader, d) is not None
        await asyncio.sleep(1.0)
    assert reader.audit.refuted() == {liar.id}
    (told, *_) = reader.audit.refutations()
    assert told.topic == Topic.RECORDS and len(told.against) == 2
    before = reader.overlay.counted["FetchRecords"]
    assert [await read(reader, d) is not None for d in hidden] == [True] * len(hidden)
    assert reader.overlay.counted["FetchRecords"] == before + len(hidden), "who was refuted is asked last"


@in_network(5)
async def test_a_replica_that_gives_what_was_once_is_found_out(net: Net) -> None:
    old = {d.id: r for d in (draft(n) for n in range(COUNT)) for r in records(d)}
    drafts = [draft(n, at=NEWER) for n in range(COUNT)]
    await written(net, drafts)
    reader, liar = net.list[0], net.list[4]

    def outdated(reply: FetchReply) -> FetchReply:
        return FetchReply(pack([old[record.id] for record in open_package(reply.package)]))

    lie(liar, outdated)
    for d in elsewhere(net, reader, liar, drafts):
        await read(reader, d)
        await asyncio.sleep(1.0)
    assert reader.audit.refuted() == {liar.id}
    for d in drafts:
        found = await read(reader, d)
        assert found is not None and found.version.at_ms == d.at_ms


def _altered(reply: FetchReply) -> FetchReply:
    """The same records, each with a word that its author did not write."""
    wrong = [replace(record, body=record.body + b"x") for record in open_package(reply.package)]
    return FetchReply(pack(wrong))


@in_network(5)
async def test_a_replica_that_gives_wrong_bytes_to_readers_is_named_and_asked_last(net: Net) -> None:
    drafts = [draft(n) for n in range(COUNT)]
    await written(net, drafts)
    reader, liar = net.list[0], net.list[4]
    lie(liar, _altered)
    for d in elsewhere(net, reader, liar, drafts):
        assert await read(reader, d) is not None
    assert reader.audit.refuted() == {liar.id}
    (told,) = reader.audit.refutations()
    assert told.topic == Topic.RECORDS and not told.is_behind and "record" in told.reason


@in_network(5)
async def test_a_replica_that_gives_wrong_bytes_in_repair_is_named_and_repaired_around(net: Net) -> None:
    await written(net, [draft(n) for n in range(COUNT)])
    wiped, liar = net.list[0], net.list[4]
    lie(liar, _altered)
    honest = net.list[1:4]
    for node in (wiped, *honest):
        node.kill()
    wiped.wipe()
    wiped.start()
    await net.until(lambda: bool(wiped.audit.refuted()))
    for node in honest:
        node.start()
    await net.all_ready()
    await net.until(net.is_level)
    assert wiped.audit.refuted() == {liar.id}


@pytest.mark.parametrize("is_granted", [False, True])
@in_network(5)
async def test_who_alone_has_a_record_has_to_prove_that_its_author_might_write_it(net: Net, is_granted: bool) -> None:
    net.gives_grants = False
    await written(net, [])
    reader, alone, *others = net.list[0], net.list[4], *(node.identity for node in net.list[1:4])
    drafts = [draft(n, at=OLD_S) for n in range(COUNT)]  # just now: it may be on its way
    mine = [d for d in drafts if alone.id in (owners := alone.overlay.owners(slot_of(d.key, 4)))
            and reader.id not in owners]  # fmt: skip
    assert len(mine) > 5
    for record in records(*mine, signer=alone.identity):
        await alone.store.put([record])
    if is_granted:
        await alone.store.grants.keep([grant(d, alone.identity, *others, bits=4) for d in mine])
    for d in mine:
        await read(reader, d)
        await asyncio.sleep(1.0)
    assert reader.audit.refuted() == (set() if is_granted else {alone.id})
    for told in reader.audit.refutations():
        assert "nothing proves that its author held the slot's lease" in told.reason and not told.is_behind


@pytest.mark.parametrize("epoch", [0, 1])
@in_network(5)
async def test_what_one_has_not_got_yet_accuses_nobody(net: Net, epoch: int) -> None:
    """The others have had a record for a moment, or one that does not say for how long."""
    drafts = [draft(n, kind=Kind.VISIT, epoch=epoch, at=OLD_S * epoch) for n in range(COUNT)]
    await written(net, drafts)
    reader, late = net.list[0], net.list[4]
    lie(late, lambda reply: FetchReply(pack([])))
    for d in elsewhere(net, reader, late, drafts):
        assert await read(reader, d) is not None
    await asyncio.sleep(20.0)
    assert reader.audit.refuted() == set()


def test_honest_replicas_are_refuted_by_nobody_and_asked_twice_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FIRST, Topic.RECORDS, 10)

    async def story(net: Net) -> None:
        drafts = [draft(n) for n in range(COUNT)]
        await written(net, drafts)
        reader, counts = net.list[0], list[int]()
        for _ in range(3):
            before = reader.overlay.counted.get("AskVersions", 0)
            for d in drafts * 2:
                await read(reader, d)
                await asyncio.sleep(0.1)
            counts.append(reader.overlay.counted["AskVersions"] - before)
        assert not any(node.audit.refutations() for node in net.list)
        assert counts[0] > 30 and counts[2] < counts[0] / 2, counts

    network(5, story)
