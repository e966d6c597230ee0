"""Imports: who may, how much, and that such a page is kept, copied and moved as any other, and wins over no other."""

from dataclasses import replace as with_setting

import pytest
from msgspec.structs import replace

from dht import Identity, Now, Strategy, node_id_of, placement_key
from store import Kind
from store.errors import NotImporter, TooFewCopies
from store.record.package import sign_package
from store.writing.import_right import NO_MEMBER, NOT_NAMED, TOO_MUCH, ImportQuota, import_flaw
from tests.attacks.test_imports import OVER, PAGE, imported
from tests.store.network import CONFIG, Net, in_network
from tests.store.support import WALL, draft

ANNA, BEN = Identity(b"a" * 32), Identity(b"b" * 32)
A, B = node_id_of(ANNA.public_key), node_id_of(BEN.public_key)
STRATEGY = Strategy(network="00" * 20, version=1, effective_at=0, expires_at=1, next_at=0)


@pytest.mark.parametrize(
    ("strategy", "members", "flaw"),
    [
        ({}, [A, B], NOT_NAMED),
        ({}, [A], ""),
        ({}, [B], NOT_NAMED),
        ({}, [], NOT_NAMED),
        ({"admission": "invited"}, [A, B], ""),
        ({"admission": "invited"}, [B], NO_MEMBER),
        ({"admission": "attested", "importers": (BEN.public_key.hex(),)}, [A, B], NOT_NAMED),
        ({"admission": "attested", "importers": (ANNA.public_key.hex(),)}, [A, B], ""),
        ({"importers": (ANNA.public_key.hex(),)}, [B], ""),
    ],
)
def test_who_may_import(strategy: dict[str, object], members: list[bytes], flaw: str) -> None:
    assert import_flaw(ANNA.public_key, replace(STRATEGY, **strategy), members) == flaw


def test_who_is_blocked_imports_nothing() -> None:
    strategy = replace(STRATEGY, admission="invited", blocked=(A.hex(),), importers=(ANNA.public_key.hex(),))
    assert "blocks it" in import_flaw(ANNA.public_key, strategy, [A])


def test_a_day_holds_so_many_bytes_and_records() -> None:
    records = sign_package([imported(n, content=b"x" * 1000) for n in range(5)], ANNA)
    size = len(records[0].body) + 1000
    now, later = Now(WALL, 0.0), Now(WALL, 43_200.0)
    by_bytes = ImportQuota(with_setting(CONFIG, import_bytes_day=2 * size))
    assert [by_bytes.take(r, now) for r in records[:3]] == [True, True, False]
    assert by_bytes.take(sign_package([imported(9)], BEN)[0], now), "another author has its own"
    assert [by_bytes.take(r, later) for r in records[2:4]] == [True, False]
    by_number = ImportQuota(with_setting(CONFIG, import_records_day=2))
    assert [by_number.take(r, now) for r in records[:3]] == [True, True, False]


@in_network(5)
async def test_an_import_loses_to_every_fetched_version_before_and_after_it(net: Net) -> None:
    net.set_strategy(admission="invited")
    for node in net.list[:4]:
        node.start()
    await net.all_ready()
    importer, page = net.list[3], imported(2)
    await net.list[0].replicator.write([PAGE])
    await importer.replicator.write([page, OVER])
    shown = [node.store.find(Kind.DOCUMENT, PAGE.id) for node in net.list[:4]]
    assert {record.version.epoch for record in shown if record} == {PAGE.epoch}
    first = importer.store.find_version(Kind.DOCUMENT, page.id)
    await importer.replicator.write([page])
    assert importer.store.find_version(Kind.DOCUMENT, page.id) == first
    await importer.stop()
    fetched = draft(2, epoch=int(WALL) - 600, at=-600.0)  # before the instant of the import
    await net.list[0].replicator.write([fetched])
    held = {r.version.epoch for n in net.list[:3] if (r := n.store.find(Kind.DOCUMENT, page.id)) is not None}
    assert held == {fetched.epoch}


@in_network(4, replicas=4)
async def test_what_was_imported_stays_when_its_importer_may_no_more_and_newcomers_copy_it(net: Net) -> None:
    importer, page = net.list[0], imported(2)
    net.set_strategy(importers=(importer.identity.public_key.hex(),))
    for node in net.list[:3]:
        node.start()
    await net.all_ready()
    await importer.replicator.write([page])
    net.set_strategy(importers=())
    with pytest.raises(NotImporter, match="--importer"):
        await importer.replicator.write([imported(3)])
    net.list[3].start()
    await net.all_ready()
    await net.until(lambda: net.list[3].store.find(Kind.DOCUMENT, page.id) is not None)
    record = net.list[3].store.find(Kind.DOCUMENT, page.id)
    assert record is not None and record.proof.author == importer.identity.public_key


@in_network(3)
async def test_beyond_a_day_s_share_the_importer_hears_why_at_once(net: Net) -> None:
    net.set_strategy(admission="invited")
    for node in net.list:
        node.config = with_setting(CONFIG, import_records_day=3)
        node.start()
    await net.all_ready()
    importer = net.list[0]
    await importer.replicator.write([imported(n) for n in range(2, 5)])
    with pytest.raises(TooFewCopies) as told:
        await importer.replicator.write([imported(5)])
    assert told.value.refusal == TOO_MUCH and told.value.waited_s < 1.0
    left = imported(5)
    assert all(node.store.find(left.kind, left.id) is None for node in net.list), "not even where it was written"
    await importer.replicator.write([imported(4)])  # is there already


@in_network(3)
async def test_what_owners_bring_each_other_counts_no_more_and_one_that_is_alone_has_no_limit(net: Net) -> None:
    net.set_strategy(admission="invited")
    for node in net.list:
        node.config = with_setting(CONFIG, import_records_day=3)
    importer = net.list[0]
    importer.start()
    await net.all_ready()
    pages = [imported(n) for n in range(2, 22)]
    await importer.replicator.write(pages)
    for node in net.list[1:]:
        node.start()
    await net.all_ready()
    await net.until(lambda: all(n.store.find(p.kind, p.id) is not None for n in net.list for p in pages))


@in_network(3)
async def test_an_import_of_a_spread_site_keeps_its_importers_proof(net: Net) -> None:
    """The moved record is what its author signed, at another place of its site."""
    net.set_strategy(admission="invited")
    for node in net.list:
        node.start()
    await net.all_ready()
    (record,) = sign_package([imported(2)], net.list[0].identity)
    other = placement_key("http://elsewhere.example/")
    moved = net.list[1].replicator._drafts.moved(record, other)
    assert moved.record is not None and moved.record.proof.author == net.list[0].identity.public_key
    assert (moved.record.key, moved.record.signed_key) == (other, record.key)
