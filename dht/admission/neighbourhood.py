"""The key space is cut into neighbourhoods of some dozens of members, which say who is near whom.

Pure: ids in, ranges out. In a network of up to 80 members all are near. Above that a range is halved for as long as
both halves keep 24 members. So every node that knows the same members cuts alike, and being near is mutual. The 16
members nearest to a slot's start (its candidates) lie in one neighbourhood, so nodes that share a slot are near. Names
are by the first 32 bits of an id.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from dht.keys import KEY_BITS, NodeId

SMALL_NETWORK = 80  # members; as many lines as fit into the digest of one PING
LEAST = 24  # members of a neighbourhood; more than the 16 candidates of a slot, so that a few departures move no border
PREFIXES = 1 << 32


class IdRange(NamedTuple):
    """Names the ids whose first 32 bits lie in first … last."""

    first: int
    last: int

    def has(self, peer: bytes) -> bool:
        """Tell whether an id, or any point of the key space, lies in the range."""
        return self.first <= int.from_bytes(peer[:4], "big") <= self.last

    @property
    def width(self) -> int:
        """How many ids lie between the first and the last, counted by their first 32 bits."""
        return self.last - self.first


WHOLE = IdRange(0, PREFIXES - 1)


def neighbourhood_of(members: Sequence[NodeId], point: bytes) -> IdRange:
    """Return the neighbourhood around a point; `members` are sorted."""
    if len(members) <= SMALL_NETWORK:
        return WHOLE
    place = int.from_bytes(point[:4], "big")
    first, last, low, high = 0, PREFIXES - 1, 0, len(members)
    while high - low >= 2 * LEAST and first < last:
        middle = (first + last + 1) // 2
        cut = bisect_left(members, middle.to_bytes(4, "big"), low, high)
        if min(cut - low, high - cut) < LEAST:
            break
        if place < middle:
            last, high = middle - 1, cut
        else:
            first, low = middle, cut
    return IdRange(first, last)


def nearest(ids: Sequence[NodeId], numbers: Sequence[int], point: int, count: int) -> list[NodeId]:
    """Return the ids that are nearest (XOR) to a point, the nearest first. `ids` are sorted, `numbers` the same ones as
    numbers. Those with the longest common prefix are taken, widened until there are so many, and cut by distance."""
    low, high = 0, len(numbers)
    for bits in range(KEY_BITS, -1, -1):
        base = point >> bits << bits
        first = bisect_left(numbers, base, low, high)
        end = bisect_left(numbers, base + (1 << bits), low, high)
        if end - first < count:
            break
        low, high = first, end
    found = sorted((number ^ point, place) for place, number in enumerate(numbers[low:high], low))
    return [ids[place] for _, place in found[:count]]


def span(ids: Sequence[NodeId], block: IdRange) -> tuple[int, int]:
    """Return where the ids of a range begin and end in a sorted sequence."""
    end = bisect_left(ids, (block.last + 1).to_bytes(4, "big")) if block.last + 1 < PREFIXES else len(ids)
    return bisect_left(ids, block.first.to_bytes(4, "big")), end
