"""Asks a node for all pages of a reading, and keeps its answers in a file, one a line, until the export is whole.

The first line says what was asked. A command that was interrupted is given again and goes on where the file ends: a
last line that was cut short is asked for anew. So are, once all was asked, the slots of which something was not read;
what they gave before is passed over then.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from dht import counted
from node.api.body import Json
from node.captures.capture import Capture, Lifetime
from node.cli.http_client import HttpClient

PAGES = 500  # in one answer, at most
LINE_EVERY_S = 10.0  # a line of progress where there is no terminal

Parameters = Sequence[tuple[str, str]]


class ExportQuestion(msgspec.Struct, frozen=True):
    """The first line: what a person asked, and the readings that answer it, one after the other."""

    asked: dict[str, str]
    readings: list[list[tuple[str, str]]]  # parameters of /api/v1/documents


class ExportAnswer(msgspec.Struct, frozen=True):
    """One answer of the node, to the reading of this number."""

    reading: int
    documents: list[Capture]
    next_cursor: str | None
    left_out: dict[str, int] = {}
    unread: list[dict[str, object]] = []
    again: list[list[tuple[str, str]]] = []  # instead of an answer: what is read once more from here on


class _ReadLifetimes(msgspec.Struct, frozen=True):
    """The lifetimes alone of an answer."""

    lifetimes: list[Lifetime] = []


class ExportSpool:
    """A file of answers that grows until there is a last one."""

    def __init__(self, path: Path, asked: dict[str, str]) -> None:
        """Open what an earlier command left, if it asked the same."""
        self.path, self.asked = path, asked
        self.question: ExportQuestion | None = None
        self.pages, self.left_out, self.unread = 0, Counter[str](), list[dict[str, object]]()
        self.reading, self.cursor = 0, ""  # where to go on
        self._unread_in = dict[tuple[int, object], None]()  # readings and slots
        self._first_again = -1  # the first reading that repeats parts of others; -1: none does
        self._end = 0  # of the last whole line
        if path.exists():
            self._read()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to be asked."""
        return self.question is not None and self.reading == len(self.question.readings)

    def begin(self, readings: list[list[tuple[str, str]]]) -> ExportQuestion:
        """Begin anew, with what is to be read."""
        self.question = ExportQuestion(self.asked, readings)
        self.path.write_bytes(line := msgspec.json.encode(self.question) + b"\n")
        self._end = len(line)
        return self.question

    def add(self, body: Json) -> None:
        """Add an answer; it is on the disk when this returns."""
        self._append(msgspec.json.encode({**body, "reading": self.reading}) + b"\n")

    def read_again(self) -> None:
        """Ask once more for the slots of which something was not read, if there are any."""
        if self.question is not None and self.is_whole and self._unread_in:
            readings = self.question.readings
            again = [
                [*(each for each in readings[n] if each[0] != "slot"), ("slot", f"{slot}")]
                for n, slot in self._unread_in
            ]
            answer = ExportAnswer(self.reading, [], None, again=again)
            self._append(msgspec.json.encode(answer) + b"\n")

    def _append(self, line: bytes) -> None:
        with self.path.open("r+b") as file:
            file.truncate(self._end)
            file.seek(self._end)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._note(msgspec.json.decode(line, type=ExportAnswer), len(line))

    def captures(self) -> Iterator[Capture]:
        """Yield the pages of all answers, each once, one answer in memory at a time."""
        seen = set[bytes]()
        with self.path.open("rb") as file:
            file.readline()
            while file.tell() < self._end:
                answer = msgspec.json.decode(file.readline(), type=ExportAnswer)
                for capture in answer.documents:
                    name = _name(capture) if self._first_again >= 0 else b""
                    if answer.reading < self._first_again or name not in seen:
                        yield capture
                    if name:
                        seen.add(name)

    def lifetimes(self) -> Iterator[Lifetime]:
        """Yield the lifetimes of all answers; a page that was read again comes again."""
        with self.path.open("rb") as file:
            file.readline()
            while file.tell() < self._end:
                yield from msgspec.json.decode(file.readline(), type=_ReadLifetimes).lifetimes

    def _read(self) -> None:
        with self.path.open("rb") as file:
            try:
                question = msgspec.json.decode(line := file.readline(), type=ExportQuestion)
            except msgspec.DecodeError:
                return
            if question.asked != self.asked:
                return
            self.question, self._end = question, len(line)
            for line in file:
                try:
                    self._note(msgspec.json.decode(line, type=ExportAnswer), len(line))
                except msgspec.DecodeError:
                    return

    def _note(self, answer: ExportAnswer, size: int) -> None:
        self._end += size
        if answer.again and self.question is not None:
            self._first_again = self._first_again if self._first_again >= 0 else answer.reading
            self.question.readings.extend(answer.again)
            self.unread.clear()
            self._unread_in.clear()
            return
        self._unread_in |= dict.fromkeys((answer.reading, part.get("slot")) for part in answer.unread)
        self.pages += len(answer.documents)
        self.left_out.update(answer.left_out)
        self.unread += answer.unread
        self.cursor = answer.next_cursor or ""
        self.reading = answer.reading + (not self.cursor)


def _name(capture: Capture) -> bytes:
    """Return a short name that tells a version of a page from all others."""
    text = f"{capture.captured_at} {capture.content_digest.hex()} {capture.url}"
    return blake2b(text.encode(errors="replace"), digest_size=16).digest()


def fetch_answers(
    node: HttpClient, spool: ExportSpool, readings: Callable[[], list[list[tuple[str, str]]]], each: Parameters
) -> None:
    """Ask the node for what a spool lacks: `readings` says what is to be read, where nothing was asked yet, and `each`
    is a part of every question. Raises NotRunning or RefusedByNode; what was answered until then is kept."""
    question, shown_at = spool.question or spool.begin(readings()), time.monotonic()
    while not spool.is_whole:
        wanted = [*question.readings[spool.reading], ("limit", PAGES), *each]
        body = node.get("/api/v1/documents", [*wanted, ("cursor", spool.cursor)] if spool.cursor else wanted)
        spool.add(body)
        line = f"{counted(spool.pages, 'page')}, {_share(spool):.0%} read"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() > shown_at + LINE_EVERY_S:
            shown_at = time.monotonic()
            print(line, file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def _share(spool: ExportSpool) -> float:
    """How much is read: by the key space, or of the results of a query."""
    readings = len(spool.question.readings) if spool.question else 1
    return (spool.reading + int(spool.cursor[:8] or "0", 16) / (1 << 32)) / max(1, readings)
