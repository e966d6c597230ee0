"""Estimates how many documents a whole network keeps: nobody is asked for it.

Pure: counts in, a count out.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from dht import Slot
from index import CountedDocuments

LEAST_SLOTS = 16  # of which a node must keep copies, so that its part says something about the others
LEAST_HERE, GROWN = 100, 1.5  # documents from which on, and times up to which, the network grows as this node's part
FRESH_S = 60.0  # so long a count of the network is told as it was, where this node's part says nothing about growth
DIGITS = 2  # of an estimate


class NetworkSize(NamedTuple):
    """How many documents a network keeps, None where nothing tells; `is_exact`: this node keeps all of them."""

    documents: int | None
    is_exact: bool


def network_size(
    own: Mapping[Slot, int], ready: Collection[Slot], slots: int, counted: CountedDocuments | None, now: float
) -> NetworkSize:
    """Return the size of a network of so many slots.

    `own`: how many documents are indexed here by slot; `ready`: the slots whose copies here are complete; `counted`:
    what the last search counted of the whole network; `now`: steady."""
    kept = sum(own.get(slot, 0) for slot in ready)
    if len(ready) >= slots:
        return NetworkSize(kept, True)
    if counted is not None and (documents := _since(counted, sum(own.values()), now)):
        return _estimate(documents)
    return _estimate(kept * slots / len(ready)) if len(ready) >= LEAST_SLOTS else NetworkSize(None, False)


def _since(counted: CountedDocuments, here: int, now: float) -> float:
    """Return how many documents the network has since they were counted; 0 where that is not known any more."""
    if counted.here >= LEAST_HERE and 1 / GROWN <= here / counted.here <= GROWN:
        return counted.network * here / counted.here
    return max(counted.network, here) if now <= counted.at + FRESH_S else 0


def _estimate(documents: float) -> NetworkSize:
    return NetworkSize(rounded(documents), False)


def rounded(documents: float) -> int:
    """Return an estimate with no more digits than are known."""
    return int(float(f"{documents:.{DIGITS}g}"))
