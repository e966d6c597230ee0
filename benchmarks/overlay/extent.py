"""Says how much is measured: all of it, a quick part, or the seeds and the size that somebody asks for.

Pure: values only.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Extent:
    """Holds what was asked for. `seeds` and `nodes`, where given, replace those of a part; not every part has both."""

    quick: bool = False
    seeds: range | None = None
    nodes: int | None = None

    def of(self, quick: tuple[range, int], full: tuple[range, int]) -> tuple[range, int]:
        """Return the seeds and nodes of a part, which has two sizes."""
        seeds, nodes = quick if self.quick else full
        return self.seeds or seeds, self.nodes or nodes


def parse_seeds(text: str) -> range:
    """Read a range of seeds such as "3" or "2-5"; raises ValueError."""
    first, _, last = text.partition("-")
    found = range(int(first), int(last or first) + 1)
    if not found:
        raise ValueError(f"seeds: {text} has none; give the lower one first")
    return found
