"""What a score needs to know about the whole network: N, lengths, and in how many documents each leaf occurs.

Pure: integers only, so that sums over any plan that covers every slot once are equal. Each slot has its own totals and
a fingerprint of what is indexed in it: the sum, modulo 2**256, of SHA-256(id ‖ version) of its documents, which
additions and removals keep up to date and which nobody can steer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from index.forward import Counts

FINGERPRINT_BYTES = 32
_MODULUS = 1 << 256


@dataclass(frozen=True, slots=True)
class SlotTotals:
    """One slot of one index: documents, the sum of their lengths by field, and what they are."""

    documents: int = 0
    lengths: Counts = (0, 0, 0, 0)
    fingerprint: int = 0

    def plus(self, identity: bytes, lengths: Counts, sign: int = 1) -> "SlotTotals":
        """With one document more (or, sign -1, less); `identity` is its id and version joined."""
        mark = int.from_bytes(sha256(identity).digest(), "big")
        return SlotTotals(
            self.documents + sign,
            add(self.lengths, lengths, sign),
            (self.fingerprint + sign * mark) % _MODULUS,
        )

    @property
    def fingerprint_bytes(self) -> bytes:
        return self.fingerprint.to_bytes(FINGERPRINT_BYTES, "big")


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums over all slots that were answered; `df` has one number for each leaf of the query."""

    documents: int
    lengths: Counts
    df: tuple[int, ...]


def total(parts: Iterable[Statistics], leaves: int) -> Statistics:
    """The sum of what several slots or peers say."""
    documents, lengths, df = 0, (0, 0, 0, 0), [0] * leaves
    for part in parts:
        documents += part.documents
        lengths = add(lengths, part.lengths)
        df = [a + b for a, b in zip(df, part.df, strict=True)]
    return Statistics(documents, lengths, tuple(df))


def add(a: Counts, b: Counts, sign: int = 1) -> Counts:
    """a + sign · b, field by field."""
    return (a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2], a[3] + sign * b[3])
