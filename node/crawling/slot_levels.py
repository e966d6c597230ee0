"""How the copies of a slot compare: what peers say of theirs, held against this node's, and since when they differ.

Pure: digests and `now` in, answers out. A peer is *level* in a slot when its copy was equal to ours lately, leaving out
what was written in the last seconds, which is on its way to all owners.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from dht import Message, NodeId, Now, Slot

YOUNG_S = (
    15.0  # what was written later than so long ago is left out: it may still be on its way to an owner or an index
)
LEVEL_S = 30.0  # so long a comparison counts
STALE_S = LEVEL_S + YOUNG_S  # and never for longer than this after the instant that it was about
UNLIKE_S = 30.0  # a copy that has differed for longer is no longer just behind
DIGEST_BYTES = 16
MAX_DIGESTS = 1024  # in one message

Digest = Annotated[bytes, Meta(min_length=DIGEST_BYTES, max_length=DIGEST_BYTES)]
MaybeDigest = Annotated[bytes, Meta(max_length=DIGEST_BYTES)]
Count = Annotated[int, Meta(ge=0, lt=1 << 48)]


class SlotDigest(msgspec.Struct, frozen=True, array_like=True):
    """Says what one copy of a slot holds. Equal digests mean equal copies.

    `older`: of the indexed documents, as they were written before the message's `until`. `whole`: of all records and
    all that is indexed, empty while they change. `documents`, `lengths`: how many are indexed, and how long they are
    by field."""

    slot: Annotated[int, Meta(ge=0, lt=1 << 16)]
    older: Digest
    whole: MaybeDigest
    documents: Count
    lengths: tuple[Count, Count, Count, Count]


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
    """What a peer said of a slot last. `until`: the last instant up to which its copy was equal to ours, and `level_at`
    when we heard so (steady); `unlike_since`: steady, None where it was equal when heard last."""

    at: float
    whole: bytes = b""
    until: float = float("-inf")
    level_at: float = float("-inf")
    unlike_since: float | None = None


class SlotLevels:
    """Remembers what other holders of this node's slots say of their copies."""

    def __init__(self) -> None:
        self._heard: dict[Slot, dict[NodeId, _Heard]] = {}
        self._owed: dict[NodeId, int] = {}
        self._current_until = float("-inf")

    def kept_up(self, until: float) -> None:
        """Note that this node's index has all that its store had at an instant, Unix seconds."""
        self._current_until = until

    def hear(self, now: Now, peer: NodeId, message: SlotDigests, mine: Callable[[Slot, float], bytes | None]) -> None:
        """Take a peer's message; `mine`: this node's own `older` digest of a slot, None where it does not hold it."""
        until = min(message.until, now.wall)
        self._owed[peer] = message.owed
        for said in message.digests:
            slot = Slot(said.slot)
            if (own := mine(slot, message.until)) is None:
                continue
            heard = self._heard.setdefault(slot, {}).setdefault(peer, _Heard(now.steady))
            heard.at, heard.whole = now.steady, said.whole
            if own != said.older:
                heard.unlike_since = now.steady if heard.unlike_since is None else heard.unlike_since
            else:
                heard.unlike_since = None
                heard.until, heard.level_at = until, now.steady

    def keep(self, held: Collection[Slot], live: Collection[NodeId]) -> None:
        """Forget what was said of slots that this node does not hold, and by peers that are not live."""
        self._owed = {peer: owed for peer, owed in self._owed.items() if peer in live}
        for slot in [slot for slot in self._heard if slot not in held]:
            del self._heard[slot]
        for heard in self._heard.values():
            for peer in [peer for peer in heard if peer not in live]:
                del heard[peer]

    def forget(self) -> None:
        """Forget everything: slots are numbered anew, or this node's own copies are not what they were."""
        self._heard.clear()

    def mask(self, now: Now, slot: Slot, owners: Sequence[NodeId], me: NodeId) -> int:
        """Return a bit for each owner that is level with this node, the first owner's the lowest. Its own is set while
        its index keeps up."""
        heard, found = self._heard.get(slot, {}), 0
        for place, owner in enumerate(owners):
            if owner == me:
                is_level = now.wall - self._current_until <= LEVEL_S
            else:
                is_level = (said := heard.get(owner)) is not None and _is_level(now, said)
            found |= is_level << place
        return found

    def is_unlike(self, now: Now, slot: Slot, counts: Callable[[NodeId], bool]) -> bool:
        """Tell whether the copy of one of those peers that `counts` names has differed for longer than `UNLIKE_S`."""
        for peer, heard in self._heard.get(slot, {}).items():
            if (since := heard.unlike_since) is None or now.steady - heard.at > STALE_S:
                continue
            if now.steady - since > UNLIKE_S and counts(peer):
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


def _is_level(now: Now, heard: _Heard) -> bool:
    return now.steady - heard.level_at <= LEVEL_S and now.wall - heard.until <= STALE_S
