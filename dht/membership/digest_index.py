"""The digest index keeps the known peers in the order of their ids, each with its line of a digest.

A line is the first 32 bits of the id and the 32-bit sequence; times are of this node's steady clock.
Pure: ids and numbers only. Every packet needs the digests of dozens of peers to be made and compared. So the lines lie
next to each other in the order in which they are asked for. Equal lines need no further look. The lines are those of
the heartbeats themselves: nodes of one process share them, and no number is made to compare two.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from struct import pack, unpack

from dht.admission.neighbourhood import PREFIXES, WHOLE, IdRange
from dht.keys import NodeId

LINE_BYTES = 8
SEQUENCE = 0xFFFFFFFF  # that part of a line


class DigestIndex:
    """Keeps the lines sorted by id; a range of them is given by its first place and its end."""

    def __init__(self) -> None:
        self._ids: list[NodeId] = []
        self._lines: list[int] = []
        self._sent = array("d")

    def add(self, peer: NodeId, line: int, sent_steady: float) -> None:
        """Add a peer that is not here yet."""
        place = bisect_left(self._ids, peer)
        self._ids.insert(place, peer)
        self._lines.insert(place, line)
        self._sent.insert(place, sent_steady)

    def add_all(self, added: Iterable[tuple[NodeId, int, float]]) -> None:
        """Add many peers that are not here yet: peer, line, when its heartbeat was sent."""
        merged = sorted([*zip(self._ids, self._lines, self._sent, strict=True), *added])
        self._ids = [peer for peer, _, _ in merged]
        self._lines = [line for _, line, _ in merged]
        self._sent = array("d", (at for _, _, at in merged))

    def change(self, peer: NodeId, line: int, sent_steady: float) -> None:
        """Replace the line of a peer that is here by that of a newer heartbeat."""
        place = bisect_left(self._lines, line >> 32 << 32)
        while self._ids[place] != peer:  # others with its prefix, where somebody made such
            place += 1
        self._lines[place], self._sent[place] = line, sent_steady

    def drop(self, peer: NodeId) -> None:
        """Remove a peer that is here."""
        place = bisect_left(self._ids, peer)
        del self._ids[place], self._lines[place], self._sent[place]

    def span(self, block: IdRange) -> tuple[int, int]:
        """Return the range of lines whose ids lie in a block."""
        if block == WHOLE:
            return 0, len(self._ids)
        first = bisect_left(self._lines, block.first << 32)
        return first, bisect_left(self._lines, block.last + 1 << 32, first) if block.last + 1 < PREFIXES else len(self)

    def ids(self, first: int, end: int) -> list[NodeId]:
        """Return the ids of a range."""
        return self._ids[first:end]

    def prefix(self, place: int) -> int:
        """Return the first 32 bits of the id at a place."""
        return self._lines[place] >> 32

    def digest(self, first: int, end: int) -> bytes:
        """Return the lines of a range as a packet has them, 8 bytes each."""
        return pack(f">{end - first}Q", *self._lines[first:end])

    def newer(self, first: int, end: int, theirs: Iterable[int]) -> list[tuple[NodeId, int]]:
        """Return the peers of a range of whom more is known here than `theirs` say, each with the sequence there, 0 for
        none."""
        ours, others = self._lines[first:end], set(theirs)
        fresh = [(place, line) for place, line in enumerate(ours, first) if line not in others]
        if not fresh:
            return []
        held = {line >> 32: line & SEQUENCE for line in others.difference(ours)}
        found: list[tuple[NodeId, int]] = []
        for place, line in fresh:
            sequence = held.get(line >> 32, 0)
            if sequence < line & SEQUENCE:
                found.append((self._ids[place], sequence))
        return found

    def sent_before(self, first: int, end: int, steady: float) -> list[tuple[float, NodeId]]:
        """Return the peers of a range whose heartbeat was sent before an instant, and when; the oldest first."""
        sent = enumerate(self._sent[first:end], first)
        return sorted((at, self._ids[place]) for place, at in sent if at < steady)

    def named(self, prefix: bytes) -> NodeId | None:
        """Return the peer whose id begins with these bytes; the first, where there are several."""
        place = bisect_left(self._ids, prefix)
        found = self._ids[place] if place < len(self._ids) else None
        return found if found is not None and found.startswith(prefix) else None

    def __len__(self) -> int:
        return len(self._ids)


def read_digest(digest: bytes) -> tuple[int, ...]:
    """Return the lines of a packet; whatever is left over at the end is ignored."""
    count = len(digest) // LINE_BYTES
    return unpack(f">{count}Q", digest[: count * LINE_BYTES])
