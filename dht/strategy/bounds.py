"""Checks single values of a strategy; each raises BadStrategy, which names the field, the value and the remedy.

Pure.
"""

from collections.abc import Iterable
from math import isfinite

from dht.errors import BadStrategy


def require(true: bool, field: str, reason: str, remedy: str) -> None:
    if not true:
        raise BadStrategy(field, reason, remedy)


def check_range(field: str, value: float, low: float, high: float) -> None:
    require(isfinite(value) and low <= value <= high, field, f"is {value}", f"choose {low} … {high}")


def check_count(field: str, values: Iterable[object], most: int) -> None:
    count = len(tuple(values))
    require(count <= most, field, f"has {count} entries", f"at most {most}")


def check_hex(field: str, value: str, length: int) -> None:
    try:
        sane = len(bytes.fromhex(value)) == length and len(value) == 2 * length and value == value.lower()
    except ValueError:
        sane = False
    require(sane, field, f"is {value[:80]!r}", f"write {2 * length} lower-case hex digits")
