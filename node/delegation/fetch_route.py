"""Chooses who makes a fetch: this node, the member that a rule names, or another owner where this node's operator
refuses.

Pure: values in, a route out. The lease holder decides when and whether, whoever makes the request: robots.txt,
politeness and the outcome stay with it, so a site sees one polite crawler.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dht import NodeId


@dataclass(frozen=True, slots=True)
class FetchRoute:
    """Peers to order from, in this order; then, unless `refused` says why not, this node itself."""

    peers: tuple[NodeId, ...] = ()
    refused: str = ""


def fetch_route(
    me: NodeId,
    live_owners: Sequence[NodeId],
    named: NodeId | None,
    refused: str,
    refuses: Callable[[NodeId], bool],
) -> FetchRoute:
    """Choose who makes a fetch. `named`: the live member that a rule names, owner or not. `refused`: why this node
    may not, "" where it may. `refuses`: whether a peer is known to refuse this URL as well."""
    chosen = [named] if named is not None and named != me and not refuses(named) else []
    if not refused:
        return FetchRoute(tuple(chosen))
    return FetchRoute(
        (*chosen, *(peer for peer in live_owners if peer not in (me, named) and not refuses(peer))), refused
    )
