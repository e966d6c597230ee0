"""An owner finds the parts of the key space by member, by lack of copies and by number, page after page."""

from dht import NodeId, Slot
from node.owner.slot_page import SlotPage, SlotWish, slot_page

A, B, C, D = (NodeId(bytes([n]) * 20) for n in range(4))
OWNERS = [(A, B), (B, C), (A, C), (B, C)]
READY = [(A, B), (B,), (), (B, C)]
HOLDERS = {0: A, 1: D, 3: C}


def page(wish: SlotWish, start: int = 0, most: int = 50) -> SlotPage:
    return slot_page(OWNERS, READY, lambda slot: HOLDERS.get(slot), wish, start, most)


def test_slots_are_found_by_owner_holder_lack_and_number() -> None:
    assert page(SlotWish()).slots == (0, 1, 2, 3)
    assert page(SlotWish({A})).slots == (0, 2)
    assert page(SlotWish({D})).slots == (1,), "it owns none, and crawls one"
    assert page(SlotWish(few=True)).slots == (1, 2)
    assert page(SlotWish({A}, few=True)).slots == (2,)
    assert page(SlotWish(number=3)).slots == (3,)
    assert page(SlotWish({A}, number=3)).slots == page(SlotWish(frozenset())).slots == ()
    assert page(SlotWish(number=4)) == SlotPage((), 0, None), "there is none of this number"


def test_pages_go_through_all_slots_once() -> None:
    seen, start = list[Slot](), 0
    while True:
        found = page(SlotWish({B, C}), start, 3)
        seen += found.slots
        assert found.matching == 4
        if found.after is None:
            break
        start = found.after
    assert seen == [0, 1, 2, 3]
