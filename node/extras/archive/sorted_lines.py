"""Sorts more lines than memory holds: runs of them go to temporary files and are merged.

Read it as `sort` of a shell: the order is that of the bytes.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from heapq import merge
from tempfile import TemporaryFile
from typing import IO

RUN_BYTES = 32 << 20


class SortedLines:
    """Lines that come in any order and leave in that of their bytes; used in a `with` block."""

    def __init__(self, run_bytes: int = RUN_BYTES) -> None:
        self._run_bytes = run_bytes
        self._lines: list[bytes] = []
        self._size = 0
        self._files = ExitStack()
        self._runs: list[IO[bytes]] = []

    def __enter__(self) -> "SortedLines":
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()

    def add(self, line: str) -> None:
        """Add a line, without its end."""
        data = line.encode() + b"\n"
        self._lines.append(data)
        self._size += len(data)
        if self._size > self._run_bytes:
            run = self._files.enter_context(TemporaryFile())  # noqa: SIM115 (closed with the stack)
            run.writelines(sorted(self._lines))
            self._runs.append(run)
            self._lines, self._size = [], 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield all lines in order, each with its end."""
        for run in self._runs:
            run.seek(0)
        return merge(*self._runs, sorted(self._lines))
