"""Prints for all verbs: JSON for programs, aligned lines and bold hits for people; and writes files whole."""

import csv
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO, TypeVar

from node.views.safe_text import Piece, plain, plain_json

Written = TypeVar("Written")
_FORMULA = frozenset("=+-@＝＋－＠")  # at the beginning of a cell; wide ones, too, are read as such


def print_json(value: object, indent: int | None = None) -> None:
    """Print one JSON value on standard output; text stays readable where the output can have any script."""
    is_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(plain_json(json.dumps(value, ensure_ascii=is_ascii, indent=2 if sys.stdout.isatty() else indent)))


def bold(text: str) -> str:
    """Make a text bold on a terminal, and leave it alone elsewhere and where NO_COLOR is set (no-color.org)."""
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text


def marked(pieces: Iterable[Piece]) -> str:
    """Write a snippet with its hits in bold."""
    return "".join(bold(piece.text) if piece.is_hit else piece.text for piece in pieces)


def print_facts(facts: Sequence[tuple[str, str]], file: TextIO | None = None) -> None:
    """Print names and values in two columns, on standard output unless `file` says otherwise."""
    facts = [(plain(name), plain(value)) for name, value in facts]
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        print(f"{name:<{width}}  {value}", file=file)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose columns are as wide as they need to be."""
    lines = [[plain(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in lines) for column in range(len(head))]
    for number, row in enumerate(lines):
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        print(bold(line) if number == 0 else line)


def print_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table as CSV (RFC 4180), in which no cell is a formula to the program that opens it."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerows([harmless(cell) for cell in row] for row in (head, *rows))


def harmless(cell: object) -> str:
    """Write a cell of CSV; a text that a spreadsheet would work out as a formula begins with an apostrophe."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if cell is None:
        return ""
    text = plain(cell)
    return f"'{text}" if not isinstance(cell, int | float) and text.lstrip()[:1] in _FORMULA else text


def is_terminal() -> bool:
    """Tell whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: str) -> str:
    """Return the line that the person at the terminal types; the end of input is taken for Ctrl-C."""
    try:
        return input(question)
    except EOFError:
        raise KeyboardInterrupt from None


def asked_for_yes(question: str) -> bool:
    """Ask on standard error, since the answer to the command may go to standard output; only a yes is one."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def confirm(question: str) -> bool:
    """Ask the person at the terminal; return True where there is none, as the command line itself was the answer."""
    if not is_terminal():
        return True
    return input(f"{question} [Y/n] ").strip().lower() in ("", "y", "yes")


def write_whole(path: Path, write: Callable[[BinaryIO], Written]) -> Written:
    """Write a file whole or not at all: it has its name once it is on the disk."""
    draft = path.with_name(f"{path.name}.part")
    with draft.open("wb") as file:
        written = write(file)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return written
