"""All that any ready owner has is named, part by part, and who does not answer is counted."""

import random

import pytest

from dht import Key, Slot, slot_of, slot_range
from store.errors import BadReplica, NoReadyOwner
from store.record.range_reconciliation import END, MAX_ENTRIES, RangeMode, Ranges, among, item
from store.record.range_session import SALT_BYTES, answer, listed, listing
from store.record.record import Kind, ShortVersion
from tests.store.network import Net, in_network
from tests.store.support import draft, records

BITS = 4
SALT = b"s" * SALT_BYTES


def _slots() -> list[tuple[Key, Key]]:
    return [slot_range(Slot(s), BITS) for s in range(1 << BITS)]


async def _names(net: Net, reader: int) -> tuple[set[bytes], int]:
    found, silent = set[bytes](), 0
    for first, last in _slots():
        at: Key | None = first
        while at is not None:
            part = await net.list[reader].replicator.list_range(at, last)
            assert [e.place for e in part.entries] == sorted({e.place for e in part.entries})
            found |= {e.id for e in part.entries}
            at, silent = part.next, silent + part.silent
    return found, silent


@in_network(5)
async def test_a_node_that_owns_nothing_of_it_names_what_others_have(net: Net) -> None:
    await net.start()
    made = records(*(draft(n) for n in range(200)))
    for record in made:
        owners = net.list[0].overlay.owners(slot_of(record.key, BITS))
        await net.nodes[random.Random(record.id).choice(owners)].store.put([record])  # one of its three owners has it
    for reader in range(5):
        assert await _names(net, reader) == ({r.id for r in made}, 0)


@in_network(5)
async def test_who_is_frozen_is_counted_and_waited_for_once(net: Net) -> None:
    await net.start()
    made = records(*(draft(n) for n in range(50)))
    for node in net.list:
        await node.store.put([r for r in made if node.id in node.overlay.owners(slot_of(r.key, BITS))])
    net.frozen = {net.list[4].id}
    found, silent = await _names(net, 0)
    owned = sum(net.list[4].id in net.list[0].overlay.owners(Slot(s)) for s in range(1 << BITS))
    assert (found, silent) == ({r.id for r in made}, owned)
    net.frozen = {n.id for n in net.list[1:]}
    with pytest.raises(NoReadyOwner):
        await _names(net, 0)


def test_a_long_list_comes_in_parts_that_end_between_keys() -> None:
    version = ShortVersion(1, 1, bytes(8))
    kinds = (Kind.DOCUMENT, Kind.VISIT, Kind.FORMER)
    items = [
        item(kind, Key(n.to_bytes(20, "big")), Key(n.to_bytes(20, "big")), version)  # type: ignore[arg-type]
        for n in range(MAX_ENTRIES)
        for kind in kinds
    ]
    first, parts, found = bytes(20), 0, []
    while first != END:
        entries, upto = listed(answer(among(items), listing(first, END, SALT), SALT), first, END)
        assert len({e.key for e in entries}) * len(kinds) == len(entries)
        first, parts, found = upto, parts + 1, found + entries
    assert (parts, found) == (4, [i.entry for i in items])


def test_a_list_that_never_ends_is_refused() -> None:
    entry = item(Kind.VISIT, Key(b"k" * 20), Key(b"k" * 20), ShortVersion(1, 1, bytes(8))).entry  # type: ignore[arg-type]
    for entries in ((), (entry,)):
        lie = Ranges((b"l", END), bytes([RangeMode.LIST, RangeMode.FINGERPRINT]), bytes(8), entries=entries)
        with pytest.raises(BadReplica, match="does not end"):
            listed(lie, bytes(20), END)
