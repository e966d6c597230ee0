"""Looking up many things by a few statements.

Pure: values only. Python's sqlite3 keeps 128 prepared statements, and the number of values is part of a statement.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
AT_ONCE = 64  # values of one statement


def portions(wanted: Sequence[T]) -> Iterator[list[T | None]]:
    """Split values into lists of at most AT_ONCE, each filled up with None to a power of two."""
    for start in range(0, len(wanted), AT_ONCE):
        part: list[T | None] = list(wanted[start : start + AT_ONCE])
        yield part + [None] * ((1 << (len(part) - 1).bit_length()) - len(part))
