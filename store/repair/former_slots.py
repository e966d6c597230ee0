"""Slots that belong to others now and still lie here: handed over, shown by their new owners, then let go.

Pure: decisions only. A lost slot stays on disk until all its owners report that they have it and have proved some of it
(`possession_audit.py`). A report alone frees nothing. Where none of these owners is known for a day, identities that
came at once may have taken the slot. So the copy stays for a day from then on, and longer where the owners change
again. It is frozen: nothing asks for it, and it takes no later version. The next owners of the slot are offered it.
"""

from collections.abc import Collection, Iterable, Set

from dht import NodeId, Slot, resize_inside

UNKNOWN_KEPT_S = 86_400.0  # a copy stays so long after all owners have shown theirs, where none is known for a day
KEPT_S = 600.0  # a keeper's copy stays so long after all owners have shown theirs: one may fall silent again
SHOW_AGAIN_S, LONGEST_SHOW_AGAIN_S = 60.0, 3600.0  # until an owner that did not show its copy is asked again, doubled


class FormerSlots:
    """Tracks how far the owners of each former slot have come."""

    def __init__(self, settle_s: float) -> None:
        """`settle_s`: so long after all have a slot, its owners are asked to show it."""
        self._settle_s = settle_s
        self.held: set[Slot] = set()  # served perhaps, and to be handed over
        self.whole: set[Slot] = set()  # of which all that there was lies here, until they became others'
        self.stood_in: frozenset[Slot] = frozenset()  # where this node was no owner, and took what came for silent ones
        self.copied: set[Slot] = set()  # those of others that this node copied as a keeper
        self._handed: dict[Slot, set[NodeId]] = {}  # owners that have everything that lies here
        self._letting_go: dict[Slot, float] = {}  # no longer announced, and since when
        self._shown: dict[Slot, set[NodeId]] = {}  # of these, owners that have shown their copies since
        self._shown_at: dict[Slot, tuple[frozenset[NodeId], float]] = {}  # of these, all owners, and when all had
        self._show_again: dict[Slot, tuple[float, float]] = {}  # when owners are asked again; the pause before that
        self._given_up: dict[Slot, float] = {}  # copies that went before their day was over, and when

    def take_back(self, slot: Slot) -> None:
        """Take note that a slot is this node's again."""
        self.held.discard(slot)
        self.keep(slot)

    def to_hand_over(self) -> list[Slot]:
        """Return the slots that not all owners have yet, in order."""
        return sorted(self.held - self._letting_go.keys())

    def handed(self, slot: Slot) -> Set[NodeId]:
        """Return the owners that have everything of a slot."""
        return self._handed.get(slot, set())

    def hand(self, slot: Slot, peer: NodeId) -> None:
        """Take note that an owner has everything of a slot."""
        self._handed.setdefault(slot, set()).add(peer)

    def let_go(self, now: float, slot: Slot) -> None:
        """Take note that all owners of a slot have everything: they are to show it."""
        self._letting_go[slot] = now

    def is_let_go(self, slot: Slot) -> bool:
        """Tell whether all owners of a slot had everything when it was looked at last."""
        return slot in self._letting_go

    def keep(self, slot: Slot) -> None:
        """Forget that a slot was handed over: something came that its owners may lack."""
        for each in (self._handed, self._letting_go, self._shown, self._shown_at, self._show_again):
            each.pop(slot, None)

    def to_show(self, now: float) -> list[Slot]:
        """Return the slots of which owners are to be asked now, in order."""
        due = []
        for slot, since in sorted(self._letting_go.items()):
            if slot in self._shown_at:
                continue
            again_at, _ = self._show_again.get(slot, (since + self._settle_s, 0.0))
            if now >= again_at:
                due.append(slot)
        return due

    def has_shown(self, slot: Slot, owners: Iterable[NodeId]) -> bool:
        """Tell whether all of some owners, one at least, have shown their copies of a slot."""
        wanted = set(owners)
        return bool(wanted) and wanted <= self._shown.get(slot, set())

    def showed(self, now: float, peer: NodeId, slot: Slot, owners: Collection[NodeId]) -> None:
        """Take note that one of a slot's owners has shown its copy."""
        if slot in self._letting_go:
            self._shown.setdefault(slot, set()).add(peer)
            if self.has_shown(slot, owners):
                self._shown_at.setdefault(slot, (frozenset(owners), now))

    def not_shown(self, now: float, peer: NodeId, slot: Slot, *, is_missing: bool) -> None:
        """Take note that an owner did not show its copy of a slot; where something is missing there, whatever it says,
        it is handed over again."""
        _, rest_s = self._show_again.get(slot, (0.0, 0.0))
        rest_s = min(max(2 * rest_s, SHOW_AGAIN_S), LONGEST_SHOW_AGAIN_S)
        self._show_again[slot] = now + rest_s, rest_s
        if is_missing:
            self._handed.get(slot, set()).discard(peer)
            self._shown.get(slot, set()).discard(peer)
            self._shown_at.pop(slot, None)
            self._letting_go.pop(slot, None)

    def shown(self) -> list[Slot]:
        """Return the slots that all owners have shown, in order."""
        return sorted(self._shown_at)

    def may_go(self, now: float, slot: Slot, owners: Collection[NodeId], *, is_known: bool, is_short: bool) -> bool:
        """Tell whether a slot that all owners have shown may leave the disk; where it has others by now, they are to
        have and show it first. `is_known`: one of the owners is known for a day. `is_short`: room runs short."""
        before, at = self._shown_at[slot]
        if before != frozenset(owners):
            del self._shown_at[slot]
            if not self.handed(slot) >= set(owners):
                self._letting_go.pop(slot, None)
            elif self.has_shown(slot, owners):
                self._shown_at[slot] = frozenset(owners), now
            return False
        if now - at < (KEPT_S if slot in self.copied else 0.0):
            return False
        if is_known or slot in self.stood_in or now - at >= UNKNOWN_KEPT_S:
            return True
        if is_short:
            self._given_up[slot] = now
        return is_short

    def given_up(self, now: float) -> int:
        """Count the slots that went within a day, before their time, because room ran short."""
        self._given_up = {slot: at for slot, at in self._given_up.items() if now - at < UNKNOWN_KEPT_S}
        return len(self._given_up)

    def dropped(self, slot: Slot) -> None:
        """Take note that a slot left the disk."""
        self.held.discard(slot)
        self.whole.discard(slot)
        self.copied.discard(slot)
        self.stood_in -= {slot}
        self.keep(slot)

    def resize(self, old_bits: int, new_bits: int) -> None:
        """Renumber the slots; all owners are to show theirs anew."""

        def parts(slots: Set[Slot]) -> frozenset[Slot]:
            return resize_inside(slots, old_bits, new_bits)

        self.held, self.whole, self.copied = map(set, map(parts, (self.held, self.whole, self.copied)))
        self.stood_in = parts(self.stood_in)
        self._handed = {part: set(owners) for slot, owners in self._handed.items() for part in parts({slot})}
        self._letting_go = {part: since for slot, since in self._letting_go.items() for part in parts({slot})}
        self._shown, self._shown_at, self._show_again, self._given_up = {}, {}, {}, {}
