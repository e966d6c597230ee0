"""Counts by slot, and the memory of them."""

from index.engine.slot_counts import ROW, CountMemory, SlotCounts, counted


def test_slots_are_asked_for_in_any_order_and_those_without_a_match_have_none() -> None:
    found = counted([7, 300, 7, 2])
    assert found.total == 4
    assert found.of([300, 65_535, 7, 0]).tolist() == [1, 0, 2, 0]
    assert found.of([]).tolist() == counted([]).of([]).tolist() == []
    assert counted([]).of([3]).tolist() == [0]
    assert found.are_within({2, 7, 300, 9})
    assert not found.are_within({2, 7})


def test_words_asked_for_lately_are_remembered_and_the_others_make_room() -> None:
    wide: SlotCounts = counted(range(256))
    memory = CountMemory(3 * (256 + ROW))
    for word in ("one", "two", "three"):
        memory.remember(word, wide)
    assert memory.find("one") is wide
    memory.remember("three", wide)  # two threads counted it
    memory.remember("four", wide)
    assert [word for word in ("one", "two", "three", "four") if memory.find(word)] == ["one", "three", "four"]
