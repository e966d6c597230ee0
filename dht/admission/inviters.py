"""Says who may invite into a network, and what of that was taken back, by the strategy in force.

Pure: values and `now` in, reasons out. A newcomer's voucher must be signed by who may invite now, be valid now, and
neither it nor its signer may be revoked. A member stays one unless its voucher is revoked and was made at, or after,
the instant that the revocation names. A signer that lost trust could date back. So no newcomer enters by a revoked
voucher or signer, whatever its date.

The guest lists say which members are here by which invitation, so that each is used as often as it may be.

Pure: ids and days in, answers out. Everybody can count alike, since heartbeats name the invitation and its uses, and
attesters saw that they are those of the voucher. A guest that leaves for good frees a place.
"""

from collections.abc import Callable, Mapping, Set
from types import MappingProxyType
from typing import NamedTuple

from dht.keys import NodeId
from dht.wire.invitation import AHEAD_S, MARK_BYTES, OpenedInvitation, day_text, made_at_in, uses_in

NOBODY: Mapping[bytes, float] = MappingProxyType({})


class Inviters(NamedTuple):
    """The keys that may invite by the strategy. `until`: public keys, each with the instant that ends its right.
    `revoked`: the beginnings of voucher ids and public keys, each with the instant from which what they signed counts
    no more, 0 for all of it."""

    are_needed: bool = False
    until: Mapping[bytes, float] = NOBODY
    revoked: Mapping[bytes, float] = NOBODY

    def refusal(self, shown: OpenedInvitation, wall: float) -> str:
        """Say why a newcomer is not let in by what it shows, with the remedy; "" where it is."""
        voucher, until = shown.voucher, self.until.get(shown.voucher.inviter)
        name = f"its invitation {shown.voucher_id.hex()}"
        if self._revoked_from(shown.invited_by) is not None:
            return f"{name} was revoked by the network's publishers; ask for another one"
        if until is None or until <= wall:
            return f"{name} is signed by {voucher.inviter.hex()[:16]}…, who may not invite; ask for another one"
        if voucher.made_at > wall + AHEAD_S:
            return f"{name} was made at {day_text(voucher.made_at)}, which is not yet; set the clock of this machine"
        if voucher.expires_at <= wall:
            ended = day_text(voucher.expires_at)
            return f"{name} expired at {ended}; ask for another one, or set this machine's clock if it is off"
        return ""

    def has_revoked(self, invited_by: bytes) -> bool:
        """Tell whether a member is none any more, by what its heartbeats say of its invitation."""
        since = self._revoked_from(invited_by)
        return since is not None and made_at_in(invited_by) >= since

    def _revoked_from(self, invited_by: bytes) -> float | None:
        marks = invited_by[:MARK_BYTES], invited_by[MARK_BYTES : 2 * MARK_BYTES]
        return min((since for mark in marks if (since := self.revoked.get(mark)) is not None), default=None)


NO_INVITERS = Inviters()  # of a network that needs no invitation


class GuestLists:
    """Keeps one list for each invitation that members have named."""

    def __init__(self) -> None:
        self._lists: dict[bytes, set[NodeId]] = {}

    def add(self, member: NodeId, invited_by: bytes) -> None:
        """Take in a member."""
        if invited_by:
            self._lists.setdefault(invited_by, set()).add(member)

    def drop(self, member: NodeId, invited_by: bytes) -> None:
        """Remove a member from the list of an invitation, because it is no member any more, or names another
        invitation."""
        guests = self._lists.get(invited_by, set())
        guests.discard(member)
        if not guests:
            self._lists.pop(invited_by, None)

    def of(self, invited_by: bytes) -> Set[NodeId]:
        """Return the members that are here by one invitation."""
        return self._lists.get(invited_by, frozenset())

    def is_one_too_many(self, peer: NodeId, invited_by: bytes, first_day: Callable[[NodeId], int]) -> bool:
        """Tell whether others have used up an invitation: of its guests the first ones by first day and id count. A
        peer that is no guest yet comes after them."""
        guests, uses = self.of(invited_by), uses_in(invited_by)
        if not invited_by or len(guests | {peer}) <= uses:
            return False
        return peer not in sorted(guests, key=lambda each: (first_day(each), each))[:uses]
