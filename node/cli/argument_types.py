"""Reads what options of the command line take: numbers within bounds, lengths of time, options in their order.

Pure: text in, values out; argparse says what is wrong.
"""

import argparse
import re
from collections.abc import Sequence

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Between:
    """Takes a whole number within bounds, as an argument's type."""

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most

    def __call__(self, text: str) -> int:
        if not text.isascii() or not text.isdecimal() or not self.least <= int(text) <= self.most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {self.least} to {self.most}")
        return int(text)


class Share:
    """Takes a number from 0 to a bound, as an argument's type."""

    def __init__(self, most: float) -> None:
        self.most = most

    def __call__(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= self.most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {self.most:g}")
        return value


class FilterValue:
    """Takes a value that a filter of a query can have, as an argument's type."""

    def __init__(self, name: str, meant: str) -> None:
        """`meant`: the values that the filter takes, in words."""
        self.name, self.meant = name, meant

    def __call__(self, text: str) -> str:
        from index import FILTERS  # only a search needs it

        if text and FILTERS[self.name].read(text) is None:
            raise argparse.ArgumentTypeError(f"{text!r} is not {self.meant}")
        return text


def lengths(text: str) -> tuple[float, float]:
    """Parse two lengths of time in seconds, such as 8h,16h, as an argument's type."""
    match = re.fullmatch(r"([0-9]{1,6})([smhd]),([0-9]{1,6})([smhd])", text)
    if match is None or not int(match[1]) or not int(match[3]):
        raise argparse.ArgumentTypeError(f"{text!r} is not two lengths of time such as 8h,16h or 90s,10m")
    return float(match[1]) * _UNITS_S[match[2]], float(match[3]) * _UNITS_S[match[4]]


class Ordered(argparse.Action):
    """Collects (option, value) of several options in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        given = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*given, (self.option_strings[0].lstrip("-"), values)])
