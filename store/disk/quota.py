"""What the disk may hold.

Pure: numbers in, a verdict out.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quota:
    """How much the store may take (`limit_bytes`), and how much free space it leaves to others (`reserve_bytes`)."""

    limit_bytes: int
    reserve_bytes: int

    def refusal(self, used_bytes: int, free_bytes: int, incoming_bytes: int) -> str:
        """Say why so many bytes more must not be written, "" where they may."""
        if used_bytes + incoming_bytes > self.limit_bytes:
            used = f"{_size(used_bytes)} used of a quota of {_size(self.limit_bytes)}"
            return f"{used}, {_size(incoming_bytes)} more do not fit"
        if free_bytes - incoming_bytes < self.reserve_bytes:
            return f"{_size(free_bytes)} free on the disk, of which {_size(self.reserve_bytes)} are not ours to take"
        return ""


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"
