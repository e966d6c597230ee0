"""Ranks of hosts by what the holders of all slots tell, where none gives more than its slot can.

Pure: names in, numbers out. A slot tells, of each host that has its home there and documents, to which hosts of other
domains these link. Whoever has all of it computes the same ranks as one node of all links (host_rank). A holder may
lie. It speaks for hosts of its slot alone, as their names say, and for no more than the slot has documents. It gives no
more than a·((1 - a)·documents + inflow), in units of what an average domain has; who claims more is scaled down, as
slots are in the ranks of pages (ledger). What it gives hosts of its own is inflow, too: so it may gain what pages of
its slot could have, 1 / (1 - a) times what these have without links and are given by others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.rank.host_rank import MOST_EDGES, HostEdges, by_hosts, host_edges
from index.rank.page_rank import ALPHA, BASE

ROUNDS = 30  # of scaling down; what is left after them is still refused in part
ENOUGH = 1e-7  # of all that domains have: what may be wrong in the end
MOST_SWEEPS = 200
TINY = 1e-300
Votes = Mapping[str, Sequence[str]]  # by host: the hosts that it links to


@dataclass(frozen=True, slots=True)
class HostRanks:
    """Hosts and their ranks, which add up to 1. `refused`: slots that claim more than they can give; `left_out`: links
    beyond the bound."""

    hosts: tuple[str, ...] = ()
    ranks: NDArray[np.float64] | None = None
    refused: frozenset[int] = frozenset()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Tellers:
    """Which slot tells which edge, each pair once, and in which slot the host of each edge lies."""

    edges: NDArray[np.int64]
    slots: NDArray[np.int64]
    tellers: NDArray[np.int64]  # by edge
    homes: NDArray[np.int64]  # by edge


def rank_told_hosts(
    told: Mapping[int, Votes],
    documents: Mapping[int, int],
    home_of: Callable[[str], int],
    domain_of: Callable[[str], str],
    most_edges: int = MOST_EDGES,
) -> HostRanks:
    """Rank the hosts that slots tell of. `documents`: how many each slot has; `home_of`: the slot of a host."""
    spoken = {slot: dict(_spoken_for(slot, votes, documents.get(slot, 0), home_of)) for slot, votes in told.items()}
    edges = host_edges(((host, to) for votes in spoken.values() for host, to in votes.items()), domain_of, most_edges)
    if not edges.hosts:
        return HostRanks()
    who = _who_told(edges, spoken, home_of)
    slots = max(max(told), int(who.homes.max(initial=0))) + 1
    counts = np.zeros(slots)
    counts[list(spoken)] = [documents.get(slot, 0) for slot in spoken]
    degrees = np.maximum(np.bincount(edges.from_domain, minlength=len(edges.domains)), 1)
    shares, values = np.ones(slots), np.ones(len(edges.domains))
    for _ in range(ROUNDS):
        parts = ALPHA * _mean(shares, who) / degrees[edges.from_domain]
        values = _solved(edges, parts, values)
        given, inflow = _flows(ALPHA * (values / degrees)[edges.from_domain], shares, who)
        limits = ALPHA * (BASE * counts + inflow)
        new = np.minimum(shares, np.where(given > limits, limits / np.maximum(given, TINY), 1.0))
        if np.abs(new - shares).max() < 1e-9:
            break
        shares = new
    ranks = by_hosts(edges, values, parts * values[edges.from_domain])
    return HostRanks(edges.hosts, ranks, frozenset(np.flatnonzero(shares < 1).tolist()), edges.left_out)


def _spoken_for(
    slot: int, votes: Votes, documents: int, home_of: Callable[[str], int]
) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield what a slot says of hosts that it may speak for."""
    own = [host for host in sorted(votes) if home_of(host) == slot]
    yield from ((host, votes[host]) for host in own[:documents])


def _who_told(edges: HostEdges, spoken: Mapping[int, Votes], home_of: Callable[[str], int]) -> _Tellers:
    host = {name: number for number, name in enumerate(edges.hosts)}
    names = edges.to_host << 32 | edges.from_domain  # ascending
    pairs = []
    for slot, votes in spoken.items():
        found = [host[to] << 32 | int(edges.domain_of[host[name]]) for name, targets in votes.items() for to in targets]
        told = np.unique(np.array(found, np.int64))
        places = np.minimum(np.searchsorted(names, told), max(len(names) - 1, 0))
        is_edge = names[places] == told if len(names) else np.zeros(len(told), np.bool_)
        pairs.append((places[is_edge], np.full(int(is_edge.sum()), slot)))
    numbers, slots = (np.concatenate(each) for each in zip(*pairs, strict=True))
    homes = np.array([home_of(name) for name in edges.hosts], np.int64)[edges.to_host]
    return _Tellers(numbers, slots, np.bincount(numbers, minlength=len(names)), homes)


def _mean(shares: NDArray[np.float64], who: _Tellers) -> NDArray[np.float64]:
    """What counts of each edge, where several slots tell it in equal parts."""
    return _sums(who.edges, shares[who.slots], len(who.tellers)) / who.tellers


def _solved(edges: HostEdges, parts: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What domains have, by what part of it each edge gives."""
    to_domain = edges.domain_of[edges.to_host]
    for _ in range(MOST_SWEEPS):
        new = BASE + _sums(to_domain, parts * values[edges.from_domain], len(values))
        moved, values = float(np.abs(new - values).sum()), new
        if moved * ALPHA / BASE <= ENOUGH * float(values.sum()):
            break
    return values


def _flows(
    votes: NDArray[np.float64], shares: NDArray[np.float64], who: _Tellers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How much each slot claims to give, and how much counts of what its hosts are given."""
    each = votes[who.edges] / who.tellers[who.edges]
    given = _sums(who.slots, each, len(shares))
    return given, _sums(who.homes[who.edges], each * shares[who.slots], len(shares))


def _sums(places: NDArray[np.int64], amounts: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.bincount(places, amounts, minlength=count).astype(np.float64)
    return found
