"""A keeper of rows believes no single owner, knows what it does not know, and takes no more than it may."""

import numpy as np
import pytest

from dht import BadMessage, NodeId, Slot
from index.directory.impact_table import WORD, ImpactTable, hashes_of, order_of, part_of, unpacked
from index.directory.known_row import KnownRow, agreed
from index.directory.messages import AskRows, ImpactPart, SlotCounts, TellImpacts, ToldRows
from index.directory.row_keeper import FRESH_S, RowKeeper
from index.directory.row_page import unpack_page
from index.directory.term_row import RestOfSlots, SlotEntry, TermRow, hash_of

BITS, NUMBERS, NOW = 4, (5, 5), 1_000_000.0
PEERS = [NodeId(bytes([number]) * 20) for number in range(1, 4)]
OWNERS = [tuple(PEERS)] * (1 << BITS)
ALL = tuple(range(1 << BITS))
Said = dict[int, tuple[int, int]]  # by slot: df, level


def told(said: Said, term: str = "river", **changes: object) -> TellImpacts:
    """What an owner of all slots tells of one term, and of others nothing."""
    words = np.array([(df, slot, level, 0) for slot, (df, level) in sorted(said.items())], WORD)
    table = ImpactTable(np.repeat(hashes_of([term]), len(words)), words)
    parts = [
        ImpactPart(slot, True, False, piece.packed())
        for slot in map(Slot, ALL)
        for piece in [ImpactTable(*(each[table.part(slot, BITS)] for each in (table.hashes, table.words)))]
    ]
    counts = tuple(SlotCounts(slot, 10, (10, 0, 10, 100)) for slot in ALL)
    head = {"run": 1, "average": 200.0, "at": NOW, "level": ALL, "counts": counts, "parts": tuple(parts), **changes}
    return TellImpacts(slot_bits=BITS, analyzer=5, ranking=5, slots=ALL, is_all=True, **head)  # type: ignore[arg-type]


def keeper() -> RowKeeper:
    found = RowKeeper(BITS, NUMBERS, most_entries=1000)
    found.keep(OWNERS, PEERS[0])
    return found


def ask(keeper: RowKeeper, at: float = NOW) -> tuple[TermRow, ToldRows]:
    answer = keeper.rows(AskRows(BITS, *NUMBERS, (hash_of("river"),)), OWNERS, at)
    return unpack_page(answer.page).rows[hash_of("river")], answer


@pytest.mark.parametrize("lie", [{}, {3: (9, 255), 5: (9, 255)}, {3: (1, 1)}])
def test_of_what_owners_say_the_greatest_level_counts_and_the_median_of_documents(lie: Said) -> None:
    keeps, true = keeper(), {3: (4, 90), 7: (2, 120)}
    for peer, said in zip(PEERS, (true, lie, true), strict=True):
        assert keeps.take(peer, told(said), NOW).missing == ()
    row, answer = ask(keeps)
    entries = {each.slot: each for each in row.entries}
    assert entries[Slot(3)].level >= 90 and entries[Slot(7)].level == 120
    assert row.by_class == ((0, 6),) and not answer.unknown and answer.as_of == NOW


def test_a_slot_is_unknown_until_most_owners_told_all_lately_and_level() -> None:
    keeps = keeper()
    keeps.take(PEERS[0], told({3: (4, 90)}), NOW)
    with pytest.raises(BadMessage, match="too few owners"):
        ask(keeps)
    keeps.take(PEERS[1], told({3: (4, 90)}, level=tuple(slot for slot in ALL if slot != 9)), NOW)
    assert ask(keeps, NOW + 10)[1].unknown == (9,)
    late = NOW + FRESH_S + 10
    with pytest.raises(BadMessage, match="too few owners"):
        ask(keeps, late)
    for peer in PEERS[:2]:
        keeps.take(peer, told({}, at=late, parts=()), late)
    row, answer = ask(keeps, late + 10)
    assert not answer.unknown and answer.as_of == late and row.by_class == ((0, 4),), "nothing changed"


def test_who_tells_only_what_changed_is_asked_for_the_rest() -> None:
    keeps = keeper()
    keeps.take(PEERS[1], told({3: (4, 90)}), NOW)
    assert keeps.take(PEERS[1], told({}, parts=()), NOW).missing == ()
    assert keeps.take(PEERS[1], told({}, parts=(), run=2), NOW).missing == ALL, "it began anew, and may know less"
    assert keeps.take(PEERS[2], told({}, parts=(), counts=()), NOW).has_counts is False
    full = told(dict.fromkeys(ALL, (1, 9)))
    for number in range(70):
        missing = keeps.take(NodeId(bytes([100 + number]) * 20), full, NOW).missing
    assert missing and keeps.entries <= 1000, "more than there is room for is not taken, and that is said"


def test_what_a_stranger_sends_is_refused_by_one_kind_of_error() -> None:
    entries = ImpactTable(hashes_of(["river"] * 2), np.array([(1, 2, 3, 0), (1, 3, 3, 0)], WORD))
    slot = next(Slot(number) for number in ALL if part_of(entries.hashes, Slot(number), BITS) == slice(0, 2))
    assert len(unpacked(entries.packed(), slot, BITS)) == 2
    assert order_of(entries.hashes, entries.words).tolist() == [0, 1]
    for field, value in (("slot", 16), ("slot", 2), ("df", -1), ("mark", 99)):
        words = entries.words.copy()
        words[field][1] = value
        with pytest.raises(BadMessage, match="levels of terms"):
            unpacked(ImpactTable(entries.hashes, words).packed(), slot, BITS)
    for data in (entries.packed()[:-1], entries.packed() + b"x"):
        with pytest.raises(BadMessage, match="whole number"):
            unpacked(data, slot, BITS)
    with pytest.raises(BadMessage, match="not of slot"):
        unpacked(entries.packed(), Slot((slot + 1) % 16), BITS)
    with pytest.raises(BadMessage, match="longer than"):
        keeper().take(PEERS[0], told({}, counts=(SlotCounts(1, 1, (65, 0, 0, 0)),)), NOW)


def test_of_what_keepers_say_the_greatest_level_counts_too() -> None:
    keeps = keeper()
    for peer in PEERS:
        keeps.take(peer, told({slot: (2, 100 + slot) for slot in ALL}), NOW)
    row, _ = ask(keeps)
    epoch = unpack_page(ask(keeps)[1].page).epoch
    honest, nothing = KnownRow(row, epoch, frozenset({Slot(1)}), NOW), KnownRow(TermRow(), epoch, frozenset(), NOW + 60)
    found = agreed([honest, nothing, honest])
    assert found.row == row and found.as_of == NOW and found.unknown == {Slot(1)}
    assert agreed([nothing, honest]).row.entries[3].level == row.entries[3].level
    rest = TermRow(row.entries[:2], RestOfSlots(14, 110, 28), row.by_class)
    both = agreed([honest, KnownRow(rest, epoch, frozenset(), NOW)]).row
    assert both.rest == RestOfSlots(14, 110, 28, False) and len(both.entries) == 16
    assert both.entries[15] == SlotEntry(Slot(15), 115, 0) and both.entries[4].level == 110
