"""A membership claim is the part of a node's signed heartbeats that admission goes by.

Pure: heartbeats in, claims out. Attesters name peers by marks, each with a day since which it is known.
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from dht.rate_limit import remember
from dht.wire.contact import Family
from dht.wire.heartbeat import DAY_BYTES, MARK_BYTES, VerifiedHeartbeat

READ_LIMIT = 4096  # claims; as many as members are remembered, whose admission holds the same
NO_DAYS: Mapping[bytes, int] = MappingProxyType({})


class MembershipClaim(NamedTuple):
    """Holds one node's claim. `names`: marks of the peers that it has reached; `days`: since when it names each (days
    since 1970). `invited_by` and `for_good`: as in its heartbeats."""

    member: bool
    families: frozenset[Family]
    names: frozenset[bytes] = frozenset()
    days: Mapping[bytes, int] = NO_DAYS
    invited_by: bytes = b""
    for_good: bool = False


_read: dict[bytes, MembershipClaim] = {}  # by the claims of a heartbeat; the first gives way first


def claim_of(opened: VerifiedHeartbeat) -> MembershipClaim:
    """Read the claim of a heartbeat's author; a heartbeat that claims the same as another one is not read again."""
    if (claim := _read.get(opened.claims)) is None:
        claim = _claim_of(opened)
        remember(_read, opened.claims, claim, READ_LIMIT)
    return claim


def _claim_of(opened: VerifiedHeartbeat) -> MembershipClaim:
    beat = opened.heartbeat
    names, days = marks_in(beat.attests), days_in(beat.attests, beat.attested_days)
    return MembershipClaim(beat.member, opened.families, names, days, beat.invited_by, beat.for_good)


@lru_cache(maxsize=8192)
def mark_of(peer: bytes, invited_by: bytes = b"") -> bytes:
    """Return the mark by which attesters name a peer. It is the beginning of its id, or a hash of the id and of the
    invitation by which it joined. So a name is worth nothing to a peer that shows another invitation later."""
    if not invited_by:
        return peer[:MARK_BYTES]
    return blake2b(peer + invited_by, digest_size=MARK_BYTES, person=b"dse-node invited").digest()


def marks_in(attests: bytes) -> frozenset[bytes]:
    """Split a heartbeat's field `attests` into its marks of MARK_BYTES, each of which names a peer that its author has
    reached (`mark_of`)."""
    return frozenset(attests[start : start + MARK_BYTES] for start in range(0, len(attests), MARK_BYTES))


def days_in(attests: bytes, days: bytes) -> Mapping[bytes, int]:
    """Return the day that goes with each mark in a heartbeat's fields; none where its author gives none."""
    marks = (attests[start : start + MARK_BYTES] for start in range(0, len(attests), MARK_BYTES))
    starts = range(0, len(days), DAY_BYTES)
    return {mark: int.from_bytes(days[n : n + DAY_BYTES], "big") for mark, n in zip(marks, starts, strict=False)}
