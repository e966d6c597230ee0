"""Writes help as argparse does, at the width of the terminal, for less of the time that a reader waits.

Importing this module has argparse look for no translations of its own words: we bring none, and it would look for each
word in hundreds of places of the file system.
"""

import argparse
import os
import sys
from functools import cache

vars(argparse)["_"] = lambda text: text


class VerbFormatter(argparse.HelpFormatter):
    """Writes the help of one verb."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())


class VerbsFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the examples as they are, and a verb and its help on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=_width())
        self._action_max_length = 16  # argparse forgets that verbs are indented once more


@cache
def _width() -> int:
    """Return how wide help may be, as shutil says it. It is asked once; argparse would ask for each option."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns) - 2
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else -1).columns - 2
    except (OSError, ValueError):
        return 78
