"""A keeper of rows believes no single owner, knows what it does not know, and takes no more than it may."""

import numpy as np
import pytest
from msgspec.structs import replace

from dht import BadMessage, NodeId, Slot
from index.directory.impact_pack import pack, unpack_told
from index.directory.impact_table import WORD, ImpactTable, empty, hashes_of, order_of
from index.directory.known_row import KnownRow, agreed
from index.directory.messages import AskRows, SlotCounts, TellLevels, ToldRows
from index.directory.row_keeper import RowKeeper
from index.directory.row_page import unpack_page
from index.directory.term_row import RestOfSlots, TermRow, hash_of
from index.directory.told_epoch import EPOCH_S
from index.directory.weighed_owners import FRESH_S

BITS, NUMBERS, NOW = 4, (5, 5), 1_000_000.0
PEERS = [NodeId(bytes([number]) * 20) for number in range(1, 4)]
OWNERS = [tuple(PEERS)] * (1 << BITS)
ALL = tuple(range(1 << BITS))
Said = dict[int, tuple[int, int]]  # by slot: df, level


def told(said: Said, term: str = "river", **changes: object) -> TellLevels:
    """What an owner of all slots tells of one term, and of others nothing."""
    words = np.array([(df, slot, level, 0) for slot, (df, level) in sorted(said.items())], WORD)
    entries = pack(ImpactTable(np.repeat(hashes_of([term]), len(words)), words))
    counts = tuple(SlotCounts(slot, 10, (10, 0, 10, 100)) for slot in ALL)
    head = {
        "run": 1,
        "epoch": int(NOW // EPOCH_S),
        "made_at": NOW,
        "average": 200.0,
        "at": NOW,
        "since": 0,
        "change": 1,
    }
    says = {**head, "behind": (), "young": (), "counts": counts, "wholes": ALL, "entries": entries, **changes}
    return TellLevels(slot_bits=BITS, analyzer=5, ranking=5, slots=ALL, is_cut=False, is_all=True, **says)  # type: ignore[arg-type]


def keeper() -> RowKeeper:
    blocks = dict[int, dict[int, bytes]]()
    found = RowKeeper(BITS, NUMBERS, lambda slot: blocks.setdefault(slot, {}), most_entries=1000)
    found.keep(OWNERS, PEERS[0])
    return found


def ask(keeper: RowKeeper, at: float = NOW) -> tuple[TermRow, ToldRows]:
    answer = keeper.rows(AskRows(BITS, *NUMBERS, (hash_of("river"),)), at)
    return unpack_page(answer.page).rows[hash_of("river")], answer


@pytest.mark.parametrize("lie", [{}, {3: (9, 255), 5: (9, 255)}, {3: (1, 1)}])
def test_of_what_owners_say_the_greatest_level_counts_and_the_median_of_documents(lie: Said) -> None:
    keeps, true = keeper(), {3: (4, 90), 7: (2, 120)}
    for peer, said in zip(PEERS, (true, lie, true), strict=True):
        assert keeps.take(peer, told(said), NOW).missing == ()
    row, answer = ask(keeps)
    levels = row.at(np.array(ALL))["level"]
    assert levels[3] >= 90 and levels[7] == 120
    assert row.by_class == ((0, 6),) and not answer.unknown and answer.as_of == NOW


def test_a_slot_is_unknown_until_most_owners_told_all_lately_and_level() -> None:
    keeps = keeper()
    keeps.take(PEERS[0], told({3: (4, 90)}), NOW)
    with pytest.raises(BadMessage, match="too few owners"):
        ask(keeps)
    keeps.take(PEERS[1], told({3: (4, 90)}, behind=(9,)), NOW)
    assert ask(keeps, NOW + 10)[1].unknown == (9,)
    late = NOW + FRESH_S + 10
    with pytest.raises(BadMessage, match="too few owners"):
        ask(keeps, late)
    for peer in PEERS[:2]:
        keeps.take(peer, told({}, at=late, wholes=(), since=1), late)
    row, answer = ask(keeps, late + 10)
    assert not answer.unknown and answer.as_of == late and row.by_class == ((0, 4),), "nothing changed"


def test_who_tells_only_what_changed_is_asked_for_the_rest() -> None:
    keeps = keeper()
    keeps.take(PEERS[1], told({3: (4, 90)}), NOW)
    assert keeps.take(PEERS[1], told({}, wholes=(), since=1), NOW).missing == ()
    behind = keeps.take(PEERS[1], told({3: (4, 99)}, wholes=(), since=2, change=3), NOW)
    assert behind.change == 1 and behind.missing == (), "it does not know what changed between"
    assert keeps.take(PEERS[1], told({}, wholes=(), run=2), NOW).missing == ALL, (
        "another table, and nothing known of it"
    )
    assert keeps.take(PEERS[2], told({}, wholes=(), counts=()), NOW).has_counts is False
    assert keeps.take(PEERS[2], told({}, epoch=3), NOW).is_taken is False, "an epoch of another time"
    full = told(dict.fromkeys(ALL, (1, 9)))
    for number in range(70):
        missing = keeps.take(NodeId(bytes([100 + number]) * 20), full, NOW).missing
    assert missing and keeps.entries <= 1000, "more than there is room for is not taken, and that is said"


def test_numbers_are_those_of_who_counted_before_the_epoch_began_where_anybody_did() -> None:
    keeps, before, at = keeper(), NOW // EPOCH_S * EPOCH_S - 60.0, NOW
    for peer, df in zip(PEERS, (4, 9, 9), strict=True):
        keeps.take(peer, told({3: (df, 90)}), NOW)
    assert ask(keeps)[0].by_class == ((0, 9),)
    keeps = keeper()
    for peer, df, made_at in zip(PEERS, (4, 9, 9), (before, NOW, NOW), strict=True):
        keeps.take(peer, told({3: (df, 90)}, made_at=made_at), NOW)
    assert ask(keeps, at + 10)[0].by_class == ((0, 4),), "others came since, and add levels alone"
    keeps = keeper()
    for peer, df, young in zip(PEERS, (4, 7, 2), ((), (), (3,)), strict=True):
        keeps.take(peer, told({3: (df, 90 + df)}, made_at=before, young=young), NOW)
    row, _ = ask(keeps, at + 20)
    assert row.by_class == ((0, 4),) and row.entries[0]["level"] >= 97

    ahead = int(NOW // EPOCH_S) + 1
    for peer in PEERS:
        keeps.take(peer, told({3: (1, 50)}, run=9, epoch=ahead, made_at=NOW), NOW)
    assert ask(keeps, at + 30)[0] == row, "the next epoch has not begun"
    for peer in PEERS:
        begun = told({}, run=9, epoch=ahead, wholes=(), since=1, at=ahead * EPOCH_S - 9)
        keeps.take(peer, begun, ahead * EPOCH_S - 9)
    later, answer = ask(keeps, ahead * EPOCH_S)
    assert later.by_class == ((0, 1),) and not answer.unknown


def test_what_a_stranger_sends_is_refused_by_one_kind_of_error() -> None:
    entries = ImpactTable(hashes_of(["river"] * 2), np.array([(1, 2, 3, 0), (1, 3, 3, 0)], WORD))
    assert len(unpack_told(pack(entries), BITS, 9)) == 2 and len(unpack_told(pack(empty()), BITS, 9)) == 0
    assert order_of(entries).tolist() == [0, 1]
    for field, value in (("slot", 16), ("slot", 2), ("slot", 1), ("df", -1), ("mark", 99)):
        words = entries.words.copy()
        words[field][1] = value
        with pytest.raises(BadMessage, match="levels of terms"):
            unpack_told(pack(ImpactTable(entries.hashes, words)), BITS, 9)
    good = pack(entries)
    for data in (good[:-1], good[:9], b"", good[:2], b"\x03" + good[1:], b"\xff" * 4 + good[4:]):
        with pytest.raises(BadMessage, match="levels of terms"):
            unpack_told(data, BITS, 9)
    with pytest.raises(BadMessage, match="2 entries"):
        unpack_told(good, BITS, 1)
    with pytest.raises(BadMessage, match="longer than"):
        keeper().take(PEERS[0], told({}, counts=(SlotCounts(1, 1, (65, 0, 0, 0)),)), NOW)
    with pytest.raises(BadMessage, match="out of order"):
        keeper().take(PEERS[0], replace(told({}), slots=(2, 1)), NOW)


def test_of_what_keepers_say_the_greatest_level_counts_too() -> None:
    keeps = keeper()
    for peer in PEERS:
        keeps.take(peer, told({slot: (2, 100 + slot) for slot in ALL}), NOW)
    row, _ = ask(keeps)
    epoch = unpack_page(ask(keeps)[1].page).epoch
    honest, nothing = KnownRow(row, epoch, frozenset({Slot(1)}), NOW), KnownRow(TermRow(), epoch, frozenset(), NOW + 60)
    found = agreed([honest, nothing, honest])
    assert found.row == row and found.as_of == NOW and found.unknown == {Slot(1)}
    assert agreed([nothing, honest]).row.entries[3]["level"] == row.entries[3]["level"]
    rest = TermRow(row.entries[:2], RestOfSlots(14, 110), row.by_class)
    both = agreed([honest, KnownRow(rest, epoch, frozenset(), NOW)]).row
    assert both.rest == RestOfSlots(14, 110) and len(both.entries) == 16
    assert both.entries[15].item() == (15, 115, 0) and both.entries[4]["level"] == 110
