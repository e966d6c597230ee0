"""Chooses which slots a page shows: by a member that owns or crawls them, by too few copies, by number.

Pure: owners, copies and holders by slot in, the numbers of slots out.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from dht import NodeId, Slot


@dataclass(frozen=True, slots=True)
class SlotWish:
    """Says which slots are asked for: of some `members` (None: of any), with `few` copies alone, of one `number`."""

    members: Collection[NodeId] | None = None
    few: bool = False
    number: int | None = None


@dataclass(frozen=True, slots=True)
class SlotPage:
    """Holds the slots of a page, how many match, and where the next page begins, None where this is the last."""

    slots: tuple[Slot, ...]
    matching: int
    after: int | None


def slot_page(
    owners: Sequence[Sequence[NodeId]],
    ready: Sequence[Sequence[NodeId]],
    holder: Callable[[Slot], NodeId | None],
    wish: SlotWish,
    start: int,
    most: int,
) -> SlotPage:
    """Return up to `most` slots, by number, after leaving out `start` of those that match."""
    numbers = range(len(owners)) if wish.number is None else [n for n in [wish.number] if n < len(owners)]
    matching = [
        slot
        for slot in map(Slot, numbers)
        if (not wish.few or len(ready[slot]) < len(owners[slot]))
        and (wish.members is None or any(peer in wish.members for peer in (*owners[slot], holder(slot))))
    ]
    end = start + most
    return SlotPage(tuple(matching[start:end]), len(matching), end if end < len(matching) else None)
