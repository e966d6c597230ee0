"""A grant: voters' signatures that say who may write in a slot, under which epoch, and from when until when.

Pure: values only. A record that was written under a lease refers to a grant by its own fields. Its key lies in the
slot, its author is the holder, its epoch is the grant's, and its instant lies between `not_before_s` and `until_s`. So
a record proves that its author held the slot's lease, whichever peer brings it, however much later. A grant of a slot
is one of the parts, too, into which the slot is split later.
"""

from collections.abc import Collection, Container, Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from dht.identity.node_key import node_id_of, verify
from dht.keys import MAX_SLOT_BITS, NodeId, Slot, slot_of
from dht.wire.farewell import FEW_MEMBERS, Farewell, Id, Instant, PublicKey, Signature, is_signed_farewell

DOMAIN = b"dse-node grant 1"
GRANT_S = 600  # how long one counts
CLOCKS_S = 120  # by which clocks may differ
LATE_S = 180  # what was begun under a lease is written within this after its end, clocks apart
MAX_TEAM = 16  # as many as a slot has candidates
MAX_EPOCH = 1 << 48
MAX_FAREWELLS = FEW_MEMBERS - 1
FAREWELL_S = 30 * 86400  # the longest grace that a strategy may set: who said farewell before that owns nothing
MAX_GRANT_BYTES = 2560  # MAX_TEAM ids, keys and signatures, and the rest


class Grant(msgspec.Struct, frozen=True, array_like=True):
    """Says that `holder` may write in a slot from `not_before_s` until `until_s` (Unix seconds) under an epoch.

    `team`: the live owners of the slot who might vote, sorted; among few members all of its owners."""

    network: Id
    slot_bits: Annotated[int, Meta(ge=0, le=MAX_SLOT_BITS)]
    slot: Annotated[int, Meta(ge=0, lt=1 << MAX_SLOT_BITS)]
    epoch: Annotated[int, Meta(ge=0, lt=MAX_EPOCH)]
    holder: Id
    team: Annotated[tuple[Id, ...], Meta(min_length=1, max_length=MAX_TEAM)]
    not_before_s: Instant
    until_s: Instant

    def covers(self, key: bytes, epoch: int, at_ms: int) -> bool:
        """Tell whether a version of this key, epoch and instant (Unix milliseconds) was written under this grant."""
        in_time = self.not_before_s - CLOCKS_S <= at_ms / 1000 <= self.until_s + LATE_S
        return in_time and epoch == self.epoch and slot_of(key, self.slot_bits) == self.slot

    def first_slot(self, slot_bits: int) -> Slot:
        """Return the slot of 2**slot_bits in which the granted one begins: it has the same candidates."""
        doublings = slot_bits - self.slot_bits
        return Slot(self.slot << doublings if doublings >= 0 else self.slot >> -doublings)


class SignedGrant(msgspec.Struct, frozen=True, array_like=True):
    """A grant with voters' public keys and their signatures of it. `farewells`: of those of the team who had stopped,
    and are not counted."""

    grant: Grant
    signatures: Annotated[tuple[tuple[PublicKey, Signature], ...], Meta(max_length=MAX_TEAM)]
    farewells: Annotated[tuple[Farewell, ...], Meta(max_length=MAX_FAREWELLS)] = ()

    @property
    def signers(self) -> frozenset[NodeId]:
        """Those of the team whose signatures are said to be here; `grant_flaw` says whether they are."""
        team = self.grant.team
        return frozenset([signer for key, _ in self.signatures if (signer := node_id_of(key)) in team])

    @property
    def stopped(self) -> frozenset[NodeId]:
        """Those of the team who are said to have stopped; `grant_flaw` says whether they had."""
        return frozenset([said.author for said in self.farewells])


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SignedGrant)


def counting_owners(owners: Iterable[NodeId], away: Container[NodeId]) -> tuple[NodeId, ...]:
    """Return who counts of a slot's owners, in their order: whoever is not `away`, having said farewell or being
    outvoted. Votes, signatures, copies and agreement are enough when they are enough of these."""
    return tuple([owner for owner in owners if owner not in away]) if away else tuple(owners)


def signers_needed(owners: int) -> int:
    """Return how many candidates must have signed before a member may write into a slot with so many counting owners.
    Two, so that nobody writes alone where there are others. No strategy changes that, or what was granted before would
    not count."""
    return min(2, max(1, owners))


def owners_needed(owners: int) -> int:
    """Return how many of a slot's owners, sleeping ones included, must have signed a strong grant. A record under a
    weaker grant replaces no page that stands."""
    return owners // 2 + 1


def granted_bytes(grant: Grant) -> bytes:
    """Return what voters sign, in the domain `DOMAIN`."""
    return _encoder.encode(grant)


def encode_grant(signed: SignedGrant) -> bytes:
    """Encode a grant with its signatures."""
    return _encoder.encode(signed)


def decode_grant(data: bytes) -> SignedGrant:
    """Decode what `encode_grant` made; raises ValueError."""
    if len(data) > MAX_GRANT_BYTES:
        raise ValueError(f"a grant of {len(data)} bytes, {MAX_GRANT_BYTES} allowed")
    return _decoder.decode(data)


def is_signed(grant: Grant, key: bytes, signature: bytes) -> bool:
    """Tell whether the holder of a public key is in the grant's team and signed it."""
    return node_id_of(key) in grant.team and verify(DOMAIN, key, granted_bytes(grant), signature)


def outvoted(signed: SignedGrant, tie_breakers: Collection[NodeId]) -> frozenset[NodeId]:
    """Return the other members of a grant's team where one that breaks ties has signed it, since its signature is
    enough; none in a large team. Of three members that count it signs alone only where its owner has it go on without
    the others. `tie_breakers`: as accepted strategies name them."""
    team = {*map(NodeId, signed.grant.team)}
    breaker = signed.signers.intersection(tie_breakers)
    return frozenset(team - breaker) if len(team) <= FEW_MEMBERS and len(breaker) == 1 else frozenset()


def grant_flaw(signed: SignedGrant, network: bytes, tie_breakers: Collection[NodeId] = ()) -> str:
    """Say why a grant proves nothing in a network (20 bytes), "" where a majority of its team gave it. `tie_breakers`:
    see `outvoted`."""
    grant = signed.grant
    if grant.network != network:
        return "it is one of another network"
    if grant.slot >> grant.slot_bits or not 0 < grant.until_s - grant.not_before_s <= GRANT_S:
        return f"slot {grant.slot} of 2**{grant.slot_bits}, for {grant.until_s - grant.not_before_s} s"
    if list(grant.team) != sorted({*grant.team}) or grant.holder not in grant.team:
        return "its team is not sorted, or its holder not of it"
    if flaw := _farewell_flaw(signed, network):
        return flaw
    uncounted = signed.stopped | outvoted(signed, tie_breakers)
    voters, keys = len({*grant.team} - uncounted), {key for key, _ in signed.signatures}
    if len(keys) < max(owners_needed(voters), len(signed.signatures)):
        return f"{len(keys)} of {voters} signed it, {owners_needed(voters)} needed"
    return "" if all(is_signed(grant, *signature) for signature in signed.signatures) else "a signature does not verify"


def _farewell_flaw(signed: SignedGrant, network: bytes) -> str:
    """Why its farewells prove nothing, "" where they do, or there are none."""
    grant, stopped = signed.grant, signed.stopped
    if not signed.farewells:
        return ""
    if len(grant.team) > FEW_MEMBERS or not stopped <= {*grant.team} - {grant.holder} - signed.signers:
        return "it names a farewell of its holder, of one who signed it, of a stranger, or in a large team"
    if len(stopped) < len(signed.farewells):
        return "it names a farewell twice"
    for said in signed.farewells:
        if not -CLOCKS_S <= grant.not_before_s - said.at_s <= FAREWELL_S:
            return f"it names a farewell of {grant.not_before_s - said.at_s} s before it"
        if not is_signed_farewell(said, network):
            return "a farewell does not verify"
    return ""
