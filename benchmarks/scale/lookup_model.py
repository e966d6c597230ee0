"""Models lookups in networks of any size: the node's own `Lookup`, over routing tables that are made when asked.

Pure, but for chance by a seed. No node exists: an id is a number in a sorted array, and what its k-buckets hold is
drawn when a lookup asks it, up to K of all that belong there, as `node/extras/simulation/forming.py` fills those
of a swarm. Round trips are as in `node/extras/simulation/delays.py`. So a million nodes cost eight megabytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import numpy as np
from numpy.typing import NDArray

from dht import Contact, NodeId
from dht.routing.lookup import Lookup
from dht.routing.routing_table import K
from dht.routing.rtt import DEVIATIONS, TIMEOUT_LEAST_S
from node.extras.simulation.delays import JITTER, RTT_S, SIGMA

ID_BITS = 64  # of an id's 160: enough to tell a million apart
_REST = bytes(12)


@dataclass(frozen=True, slots=True)
class Looked:
    """What lookups took. `hops`: questions in a row to the nearest; `asked`: questions of one lookup."""

    took_ms: NDArray[np.float64]
    hops: float
    asked: float

    def quantile(self, share: float) -> float:
        """Return the milliseconds that this share of the lookups stayed within."""
        return float(np.quantile(self.took_ms, share))


class ModelNetwork:
    """Ids by a seed."""

    def __init__(self, nodes: int, seed: int) -> None:
        self.nodes, self._rng = nodes, np.random.default_rng(seed)
        ids = np.unique(self._rng.integers(0, 1 << 63, nodes, dtype=np.uint64) << np.uint64(1))
        self._ids: list[int] = ids.tolist()
        self._sorted = ids

    def look_up(self, lookups: int) -> Looked:
        """Run lookups by nodes for points, each at random."""
        took, hops, asked = np.zeros(lookups), 0, 0
        for number in range(lookups):
            took[number], run = self._look_up()
            hops, asked = hops + run.hops, asked + run.asked
        return Looked(took * 1000, hops / lookups, asked / lookups)

    def contacts(self, samples: int) -> float:
        """Return how many contacts a node's table holds, mean."""
        chosen = self._rng.integers(0, len(self._ids), samples).tolist()
        return sum(len(self._table(place)) for place in chosen) / samples

    def _look_up(self) -> tuple[float, Lookup]:
        own, target = self._draw(), self._rng.bytes(ID_BITS // 8) + _REST
        run, now_s, order = Lookup(_name(self._ids[own]), target), 0.0, count()
        events: list[tuple[float, int, NodeId, bool]] = []  # at, order, who, whether an answer
        mine = self._table(own)
        known = {_name(self._ids[place]) for place in mine}
        places = {_name(self._ids[place]): place for place in mine}
        run.offer((b"", Contact(name, ()), True) for name in self._nearest(mine, target))
        while not run.is_done:
            for _, contact in run.next_queries():
                name, rtt_s = contact.node_id, self._rtt_s()
                slow_s = _timeout_s(rtt_s, rtt_s / 4) if name in known else _timeout_s(_MEAN_S, _DEVIATION_S)
                heappush(events, (now_s + slow_s / 2, next(order), name, False))
                heappush(events, (now_s + rtt_s * self._jitter(), next(order), name, True))
            now_s, _, name, is_answer = heappop(events)
            if not is_answer:
                run.slow(name)
                continue
            run.answered(name)
            told = self._table(places[name])
            places |= {_name(self._ids[place]): place for place in told}
            run.offer(((b"", Contact(each, ()), True) for each in self._nearest(told, target)), name)
        return now_s, run

    def _nearest(self, table: list[int], target: bytes) -> list[NodeId]:
        point = int.from_bytes(target[: ID_BITS // 8], "big")
        return [_name(self._ids[p]) for p in sorted(table, key=lambda place: self._ids[place] ^ point)[:K]]

    def _table(self, place: int) -> list[int]:
        """The places of the contacts in a node's k-buckets."""
        found = list[int]()
        for low, high in self._buckets(place):
            if high - low <= K:
                found += range(low, high)
            else:
                found += (low + self._rng.choice(high - low, K, replace=False, shuffle=False)).tolist()
        return found

    def _buckets(self, place: int) -> Iterator[tuple[int, int]]:
        """The ranges of places that belong into each bucket of a node."""
        low, high, number = 0, len(self._ids), self._ids[place]
        for bit in range(ID_BITS - 1, -1, -1):
            if high - low <= 1:
                return
            middle = low + int(np.searchsorted(self._sorted[low:high], np.uint64((number >> bit | 1) << bit)))
            is_upper = number >> bit & 1
            yield (low, middle) if is_upper else (middle, high)
            low, high = (middle, high) if is_upper else (low, middle)

    def _draw(self) -> int:
        return int(self._rng.integers(0, len(self._ids)))

    def _rtt_s(self) -> float:
        return RTT_S * float(np.exp(SIGMA * self._rng.standard_normal()))

    def _jitter(self) -> float:
        return 1 - JITTER + 2 * JITTER * float(self._rng.random(2).mean())


_MEAN_S = RTT_S * float(np.exp(SIGMA**2 / 2))  # of all round trips, as an estimator of strangers comes to hold it
_DEVIATION_S = float(np.abs(RTT_S * np.exp(SIGMA * np.random.default_rng(1).standard_normal(10_000)) - _MEAN_S).mean())


def _timeout_s(rtt_s: float, deviation_s: float) -> float:
    return max(TIMEOUT_LEAST_S, rtt_s + DEVIATIONS * deviation_s)


def _name(number: int) -> NodeId:
    return NodeId(number.to_bytes(ID_BITS // 8, "big") + _REST)
