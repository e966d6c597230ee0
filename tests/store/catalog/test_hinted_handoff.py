"""Hints are remembered across restarts, within bounds, and struck out when delivered."""

from dht import NodeId
from store import Kind, MemoryDisk, RecordStore, StoreConfig
from store.catalog.hinted_handoff import HintedHandoff
from tests.store.support import CONFIG, StillClock, draft, records

PEER, OTHER = NodeId(b"p" * 20), NodeId(b"q" * 20)


async def test_references_and_bodies_survive_a_restart() -> None:
    disk = MemoryDisk()
    store = RecordStore(disk, CONFIG, StillClock())
    here, elsewhere = records(draft(1)), records(draft(2))
    await store.put(here)
    handoff = HintedHandoff(store)
    assert await handoff.keep_for(PEER, here, is_here=True, now=1) == []
    assert await handoff.keep_for(PEER, elsewhere, is_here=False, now=1) == []
    assert await handoff.keep_for(OTHER, here, is_here=True, now=1) == []
    disk.crash()
    handoff = HintedHandoff(RecordStore(disk, CONFIG, StillClock()))
    assert handoff.counts() == {PEER: 2, OTHER: 1}
    assert [r for _, r in handoff.owed_to(PEER, 9)] == sorted(here + elsewhere, key=lambda r: r.id)
    await handoff.delivered([d for d, _ in handoff.owed_to(PEER, 9)])
    assert handoff.counts() == {OTHER: 1}


async def test_a_newer_version_owed_meanwhile_is_not_struck_out() -> None:
    store = RecordStore(MemoryDisk(), CONFIG, StillClock())
    handoff = HintedHandoff(store)
    old, new = records(draft(1, at=1)), records(draft(1, at=2))
    await handoff.keep_for(PEER, old, is_here=False, now=1)
    [(copy, _)] = handoff.owed_to(PEER, 9)
    await handoff.keep_for(PEER, new, is_here=False, now=2)
    await handoff.delivered([copy])
    assert [r for _, r in handoff.owed_to(PEER, 9)] == new and handoff.counts() == {PEER: 1}


async def test_what_does_not_fit_or_is_too_old_is_given_up_and_named() -> None:
    config = StoreConfig(reserve_bytes=0, outbox_bytes=250, outbox_hours=1)
    handoff = HintedHandoff(RecordStore(MemoryDisk(), config, StillClock()))
    three = records(*(draft(n, kind=Kind.VISIT) for n in range(3)))
    refused = await handoff.keep_for(PEER, three, is_here=True, now=0)
    assert [d.id for d in refused] == [three[2].id]
    assert await handoff.give_up_old(3599) == []
    assert {d.id for d in await handoff.give_up_old(3601)} == {three[0].id, three[1].id}
    assert handoff.counts() == {} and await handoff.keep_for(PEER, three[2:], is_here=True, now=4000) == []


async def test_several_versions_of_one_record_in_one_package_are_owed_as_the_newest() -> None:
    store = RecordStore(MemoryDisk(), CONFIG, StillClock())
    handoff = HintedHandoff(store)
    old, new = records(draft(1, at=1)), records(draft(1, at=2))
    assert await handoff.keep_for(PEER, [*old, *new, *old], is_here=False, now=1) == []
    assert [r for _, r in handoff.owed_to(PEER, 9)] == new and handoff.counts() == {PEER: 1}
    await handoff.keep_for(PEER, old, is_here=False, now=2)
    assert [r for _, r in handoff.owed_to(PEER, 9)] == new, "an older version never takes a newer one's place"
    await handoff.delivered([d for d, _ in handoff.owed_to(PEER, 9)])
    assert handoff.counts() == {} and await handoff.keep_for(PEER, new, is_here=False, now=3) == []
