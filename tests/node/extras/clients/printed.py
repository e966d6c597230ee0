"""Reads the set-ups that docs/clients.md prints for other programs. Tests run them as they are printed."""

import re
from pathlib import Path
from textwrap import dedent

DOCUMENT = (Path(__file__).parents[4] / "docs" / "clients.md").read_text()


def curls(port: int) -> list[str]:
    """Return every printed call of curl, with the port of a test's node."""
    return [_at(port, line) for line in re.findall(r"^    (curl .+)$", DOCUMENT, re.M)]


def settings(program: str, port: int) -> list[str]:
    """Return what the table has a user type for a program, with the port of a test's node."""
    (row,) = re.findall(rf"^\| {re.escape(program)} \| (.+) \|$", DOCUMENT.split("\n## ")[0], re.M)
    return [_at(port, code) for code in re.findall(r"`([^`]+)`", row)]


def blocks(heading: str, port: int) -> list[str]:
    """Return the indented blocks below a heading, with the port of a test's node."""
    section = DOCUMENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [_at(port, dedent(block)) for block in re.findall(r"(?:^    .*\n)+", section, re.M)]


def _at(port: int, text: str) -> str:
    return text.replace("127.0.0.1:8090", f"127.0.0.1:{port}")
