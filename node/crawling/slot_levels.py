"""Compares the copies of a slot: peers' digests of theirs with this node's own, and since when they differ.

Pure: digests and `now` in, answers out. A peer is *level* in a slot when its copy was equal to ours lately. Records of
the last seconds do not count, since they are on their way to all owners.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from dht import Clock, Message, NodeId, Now, Overlay, Slot
from index import YOUNG_S, Agreement, is_remnant, owners_digest

LEVEL_S = 30.0  # so long a comparison counts
STALE_S = LEVEL_S + YOUNG_S  # and never for longer than this after the instant that it was about
UNLIKE_S = 30.0  # a copy that has differed for longer is no longer just behind
DIGEST_BYTES = 16
MAX_DIGESTS = 1024  # in one message
MAX_MASKS = 16  # lists of slots whose masks are remembered: peers mostly ask for the same ones again

Digest = Annotated[bytes, Meta(min_length=DIGEST_BYTES, max_length=DIGEST_BYTES)]
MaybeDigest = Annotated[bytes, Meta(max_length=DIGEST_BYTES)]
Count = Annotated[int, Meta(ge=0, lt=1 << 48)]


class SlotDigest(msgspec.Struct, frozen=True, array_like=True):
    """Says what one copy of a slot holds. Equal digests mean equal copies.

    `older`: of the documents that are shown, as they were written before the message's `until`. `whole`: of all records
    and all documents that are shown, empty while they change."""

    slot: Annotated[int, Meta(ge=0, lt=1 << 16)]
    older: Digest
    whole: MaybeDigest


class SlotDigests(Message, frozen=True, array_like=True):
    """Tells another holder of these slots what the sender's copies hold; it is acknowledged.

    `until`: Unix seconds; the sender's index has all that its store had then. `owed`: copies that the sender still has
    to deliver to live peers."""

    slot_bits: Annotated[int, Meta(ge=0, le=16)]
    until: Annotated[float, Meta(ge=0, lt=1 << 53)]
    owed: Count
    digests: Annotated[tuple[SlotDigest, ...], Meta(max_length=MAX_DIGESTS)]


@dataclass(slots=True)
class _Heard:
    """Holds a peer's last word about a slot. `until`: the last instant up to which its copy was equal to ours, and
    `level_at` when we heard so (steady); `unlike_since`: steady, None where it was equal when heard last."""

    at: float
    whole: bytes = b""
    until: float = float("-inf")
    level_at: float = float("-inf")
    unlike_since: float | None = None


class _Masks(NamedTuple):
    """Remembers the masks of some slots. They hold with these owners, up to a steady and a wall instant, until a peer
    says something new."""

    masks: tuple[int, ...]
    owners: Sequence[tuple[NodeId, ...]]
    steady: float
    wall: float


_NOBODY: Mapping[NodeId, _Heard] = {}


class SlotLevels:
    """Remembers what other holders of this node's slots say of their copies."""

    def __init__(self) -> None:
        self._heard: dict[Slot, dict[NodeId, _Heard]] = {}
        self._differing: set[Slot] = set()  # and some in which nobody differs any more
        self._owed: dict[NodeId, int] = {}
        self._current_until = float("-inf")
        self._masks: dict[tuple[bool, tuple[Slot, ...]], _Masks] = {}

    def kept_up(self, until: float) -> None:
        """Note that this node's index has all that its store had at an instant, Unix seconds."""
        self._current_until = until

    def hear(self, now: Now, peer: NodeId, message: SlotDigests, mine: Callable[[Slot, float], bytes | None]) -> None:
        """Take a peer's message; `mine`: this node's own `older` digest of a slot, None where it does not hold it."""
        until = min(message.until, now.wall)
        self._masks.clear()
        self._owed[peer] = message.owed
        for said in message.digests:
            slot = Slot(said.slot)
            if (own := mine(slot, message.until)) is None:
                continue
            heard = self._heard.setdefault(slot, {}).setdefault(peer, _Heard(now.steady))
            heard.at, heard.whole = now.steady, said.whole
            if own != said.older:
                heard.unlike_since = now.steady if heard.unlike_since is None else heard.unlike_since
                self._differing.add(slot)
            else:
                heard.unlike_since = None
                heard.until, heard.level_at = until, now.steady

    def keep(self, held: Collection[Slot], live: Collection[NodeId]) -> None:
        """Forget what was said of slots that this node does not hold, and by peers that are not live."""
        self._masks.clear()
        self._owed = {peer: owed for peer, owed in self._owed.items() if peer in live}
        for slot in [slot for slot in self._heard if slot not in held]:
            del self._heard[slot]
        for heard in self._heard.values():
            for peer in [peer for peer in heard if peer not in live]:
                del heard[peer]
        differing = ((slot, self._heard.get(slot, {}).values()) for slot in self._differing)
        self._differing = {slot for slot, said in differing if any(each.unlike_since is not None for each in said)}

    def forget(self) -> None:
        """Forget everything: slots are numbered anew, or this node's own copies are not what they were."""
        self._masks.clear()
        self._heard.clear()
        self._differing.clear()

    def masks(
        self, now: Now, slots: Sequence[Slot], owners: Sequence[tuple[NodeId, ...]], me: NodeId
    ) -> tuple[int, ...]:
        """Return for each slot a bit for each of its owners that is level with this node, the first owner's the lowest.
        This node's own is set while its index keeps up. `owners`: of every slot, by its number; the same object until
        one changes."""
        is_current = now.wall - self._current_until <= LEVEL_S
        key = is_current, tuple(slots)
        found = self._masks.get(key)
        if found is None or found.owners is not owners or now.steady > found.steady or now.wall > found.wall:
            if len(self._masks) >= MAX_MASKS:
                self._masks.clear()
            found = self._masks[key] = self._masks_anew(now, slots, owners, me if is_current else None)
        return found.masks

    def _masks_anew(
        self, now: Now, slots: Sequence[Slot], owners: Sequence[tuple[NodeId, ...]], current: NodeId | None
    ) -> _Masks:
        wall, steady = now
        masks, heard_until, about_until = list[int](), float("inf"), float("inf")
        for slot in slots:  # of all slots: so nothing is called here
            heard, bit, found = self._heard.get(slot, _NOBODY), 1, 0
            for owner in owners[slot]:
                if (said := heard.get(owner)) is None:
                    found |= bit if owner == current else 0
                elif steady <= (lapses := said.level_at + LEVEL_S) and wall <= (stale := said.until + STALE_S):
                    found |= bit
                    heard_until = lapses if lapses < heard_until else heard_until
                    about_until = stale if stale < about_until else about_until
                bit <<= 1
            masks.append(found)
        return _Masks(tuple(masks), owners, heard_until, about_until)

    def unlike(self, now: Now, slots: Iterable[Slot], counts: Callable[[Slot, NodeId], bool]) -> tuple[Slot, ...]:
        """Return those of some slots of which a copy that `counts` has differed for longer than `UNLIKE_S`."""
        return tuple(slot for slot in slots if slot in self._differing and self._is_unlike(now, slot, counts))

    def _is_unlike(self, now: Now, slot: Slot, counts: Callable[[Slot, NodeId], bool]) -> bool:
        for peer, heard in self._heard.get(slot, {}).items():
            if (since := heard.unlike_since) is None or now.steady - heard.at > STALE_S:
                continue
            if now.steady - since > UNLIKE_S and counts(slot, peer):
                return True
        return False

    def are_alike(self, wholes: Mapping[Slot, bytes], teams: Mapping[Slot, Sequence[NodeId]], me: NodeId) -> bool:
        """Tell whether all live holders of these slots said last that they hold the same as this node, and owe nothing
        to live peers."""
        return all(
            peer == me or self._says(peer, slot, wholes.get(slot, b"")) for slot, team in teams.items() for peer in team
        )

    def _says(self, peer: NodeId, slot: Slot, whole: bytes) -> bool:
        heard = self._heard.get(slot, {}).get(peer)
        return heard is not None and bool(whole) and heard.whole == whole and not self._owed.get(peer)


class SlotAgreement:
    """Puts what is known of other copies into the words of an answer."""

    def __init__(self, overlay: Overlay, levels: SlotLevels, clock: Clock) -> None:
        self._overlay, self._levels, self._clock = overlay, levels, clock

    def of(self, slots: Sequence[Slot]) -> Agreement:
        """Describe the agreement of slots, as the strategy in force numbers them."""
        view, now, me = self._overlay.view, self._clock(), self._overlay.view.node_id
        owners = view.owners_by_slot()
        return Agreement(
            strategy=view.strategy.version,
            owners=owners_digest(owners, slots),
            level=self._levels.masks(now, slots, owners, me),
            unlike=self._levels.unlike(now, slots, self._counts),
            vanished=is_remnant(view),
        )

    def _counts(self, slot: Slot, peer: NodeId) -> bool:
        """Whether a peer's copy is live and served, or one that an owner has yet to be given; a copy that is still
        being made differs by its nature."""
        view = self._overlay.view
        return view.is_live(peer) and (view.is_ready(peer, slot) or peer not in view.owners(slot))
