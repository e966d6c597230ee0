"""A membership claim is what a node says of itself, in its signed heartbeats, that admission goes by.

Pure: heartbeats in, claims out. Attesters name peers by marks, each with a day since which it is known.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint, Family
from dht.wire.heartbeat import DAY_BYTES, MARK_BYTES, VerifiedHeartbeat

READ_LIMIT = 4096  # claims; as many as members are remembered, whose admission holds the same
NO_DAYS: Mapping[bytes, int] = MappingProxyType({})


class MembershipClaim(NamedTuple):
    """What a node says of itself that admission goes by. `names`: marks of those whom it has reached; `days`: since
    when it names each (days since 1970), where it says so. `block`: its /24, else its /48, b"" where it has none.
    `invited_by` and `for_good`: as in its heartbeats."""

    member: bool
    families: frozenset[Family]
    names: frozenset[bytes] = frozenset()
    days: Mapping[bytes, int] = NO_DAYS
    block: bytes = b""
    invited_by: bytes = b""
    for_good: bool = False


_read: dict[tuple[bytes, AddressPolicy], MembershipClaim] = {}  # by what a heartbeat claims; the first gives way first


def claim_of(opened: VerifiedHeartbeat, policy: AddressPolicy) -> MembershipClaim:
    """Read the claim of a heartbeat's author; a heartbeat that claims the same as another one is not read again."""
    key = opened.claims, policy
    if (claim := _read.get(key)) is None:
        if len(_read) >= READ_LIMIT:
            del _read[next(iter(_read))]
        claim = _read[key] = _claim_of(opened, policy)
    return claim


def _claim_of(opened: VerifiedHeartbeat, policy: AddressPolicy) -> MembershipClaim:
    beat, endpoints = opened.heartbeat, opened.contact.endpoints
    names, days = marks_in(beat.attests), days_in(beat.attests, beat.attested_days)
    block = block_of(endpoints, policy)
    return MembershipClaim(beat.member, opened.families, names, days, block, beat.invited_by, beat.for_good)


def block_of(endpoints: Sequence[Endpoint], policy: AddressPolicy) -> bytes:
    """Return the /24 of a node's first endpoint, or its /48; b"" where it has none."""
    return policy.subnet(endpoints[0].host) or b"" if endpoints else b""


@lru_cache(maxsize=8192)
def mark_of(peer: bytes, invited_by: bytes = b"") -> bytes:
    """Return by what attesters name a peer: the beginning of its id, or a hash of that and of the invitation by which
    it is here, so that a name is worth nothing to who then says another."""
    if not invited_by:
        return peer[:MARK_BYTES]
    return blake2b(peer + invited_by, digest_size=MARK_BYTES, person=b"dse-node invited").digest()


def marks_in(attests: bytes) -> frozenset[bytes]:
    """Return the marks in a heartbeat's field."""
    return frozenset(attests[start : start + MARK_BYTES] for start in range(0, len(attests), MARK_BYTES))


def days_in(attests: bytes, days: bytes) -> Mapping[bytes, int]:
    """Return the day that goes with each mark in a heartbeat's fields; none where its author gives none."""
    marks = (attests[start : start + MARK_BYTES] for start in range(0, len(attests), MARK_BYTES))
    starts = range(0, len(days), DAY_BYTES)
    return {mark: int.from_bytes(days[n : n + DAY_BYTES], "big") for mark, n in zip(marks, starts, strict=False)}
