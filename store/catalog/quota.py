"""What the disk may hold.

Pure: numbers in, a verdict out.
"""

from dataclasses import dataclass

INDEX_PART = 4  # of what lies beside the store a quarter as much again: pages not indexed yet, files being merged


@dataclass(frozen=True, slots=True)
class Quota:
    """How much a node may take (`limit_bytes`), and how much free space it leaves to others (`reserve_bytes`).

    `tidying_bytes`: what no new record may take, so that compaction can always write a segment before it deletes one.
    """

    limit_bytes: int
    reserve_bytes: int
    tidying_bytes: int = 0

    @classmethod
    def of(cls, limit_bytes: int, reserve_bytes: int, segment_bytes: int) -> "Quota":
        """Return the quota of a store: room for two segments is kept for tidying, or an eighth of a small quota."""
        return cls(limit_bytes, reserve_bytes, min(2 * segment_bytes, limit_bytes // 8))

    def refusal(self, used_bytes: int, free_bytes: int, incoming_bytes: int, beside_bytes: int = 0) -> str:
        """Say why so many bytes more must not be written, "" where they may. `beside_bytes`: what of the used bytes
        lies outside of the store and grows after it."""
        kept = self.tidying_bytes + beside_bytes // INDEX_PART
        if used_bytes + incoming_bytes > self.limit_bytes - kept:
            used = f"{_size(used_bytes)} used of a quota of {_size(self.limit_bytes)}"
            return f"{used}, of which {_size(kept)} are kept for tidying; {_size(incoming_bytes)} more do not fit"
        if free_bytes - incoming_bytes < self.reserve_bytes:
            return f"{_size(free_bytes)} free on the disk, of which {_size(self.reserve_bytes)} are not ours to take"
        return ""


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
