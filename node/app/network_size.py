"""Estimates how many documents a whole network keeps: nobody is asked for it.

Pure: counts in, a count out.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from dht import Slot
from index import CountedDocuments

LEAST_SLOTS = 16  # of which a node must keep copies, so that its part says something about the others
DIGITS = 2  # of an estimate


class NetworkSize(NamedTuple):
    """How many documents a network keeps, None where nothing tells; `is_exact`: this node keeps all of them."""

    documents: int | None
    is_exact: bool


def network_size(
    own: Mapping[Slot, int], ready: Collection[Slot], slots: int, counted: CountedDocuments | None
) -> NetworkSize:
    """Return the size of a network of so many slots.

    `own`: how many documents are indexed here by slot; `ready`: the slots whose copies here are complete; `counted`:
    what the last search counted of the whole network. Since then the network grew as this node's part did."""
    here, kept = sum(own.values()), sum(own.get(slot, 0) for slot in ready)
    if len(ready) >= slots:
        return NetworkSize(kept, True)
    if counted is not None:
        documents = counted.network * here / counted.here if counted.here else counted.network
    elif len(ready) >= LEAST_SLOTS:
        documents = kept * slots / len(ready)
    else:
        return NetworkSize(None, False)
    return NetworkSize(int(float(f"{documents:.{DIGITS}g}")), False)
