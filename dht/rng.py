"""Chance as an argument: what pure code may ask of a `random.Random` that its caller seeded.

Pure: a protocol only.
"""

from collections.abc import Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Rng(Protocol):
    """The part of `random.Random` that pure code uses."""

    def random(self) -> float: ...

    def uniform(self, a: float, b: float) -> float: ...

    def randrange(self, start: int) -> int: ...

    def randbytes(self, n: int) -> bytes: ...

    def sample(self, population: Sequence[Item], k: int) -> list[Item]: ...
