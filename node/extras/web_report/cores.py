"""Finds communities: pages of different sites (fans) that link to the same pages of others (centres), of whom nobody
need know each other.

Pure. First all pages are dropped that can be in no core of i fans and j centres. Then cores are grown one by one, each
from a fan by the fans that share most with it; no page is fan of two. Cores that overlap another are not counted, and a
greedy choice may miss some. Work is bounded whatever the links are. Sources: Kumar et al. 1999 (cores, pruning, centres
that too many link to are left out); Yan Hongfei 2002 (i, j of at least 3).
"""

from dataclasses import dataclass, field

import numpy as np

from node.extras.web_report.web_graph import Flags, Ids, WebGraph

LEAST_FANS, LEAST_CENTRES = 3, 3
MOST_KNOWN = 50  # pages that link to a centre; what more link to says nothing of a community: Kumar et al.
MAX_ROUNDS = 100  # of pruning; whatever is left later is pruned too little, not wrong
MAX_STEPS = 20_000_000  # links looked at while cores grow: some seconds
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: tells sets of links apart


@dataclass(frozen=True, slots=True)
class Core:
    """Holds the pages of one community."""

    fans: tuple[int, ...]
    centres: tuple[int, ...]


@dataclass(slots=True)
class Cores:
    """Holds the communities that were found, the largest first, and how many pages could be in one."""

    fans: int = 0  # left after pruning
    centres: int = 0
    found: list[Core] = field(default_factory=list)
    is_cut: bool = False  # some fans were not looked at


def cores_of(graph: WebGraph, max_steps: int = MAX_STEPS) -> Cores:
    """Return the communities of the links between sites."""
    outward = _unlike(graph.between_sites())
    known = np.bincount(outward.targets, minlength=graph.nodes)
    outward = _pruned(outward.only(known[outward.targets] <= MOST_KNOWN, graph.nodes))
    fans = np.flatnonzero(np.diff(outward.starts))
    cores = Cores(len(fans), int(np.count_nonzero(np.bincount(outward.targets))))
    growth = _Growth(outward, max_steps)
    for fan in fans.tolist():
        if growth.steps_left < 0:
            cores.is_cut = True
            break
        core = growth.core_around(fan)
        if core is not None:
            cores.found.append(core)
    cores.found.sort(key=lambda core: (-len(core.fans) * len(core.centres), core.fans))
    return cores


def _unlike(graph: WebGraph) -> WebGraph:
    """The graph without pages of a site that link to the same as another of it: they came of one template."""
    if not len(graph.targets):
        return graph
    mixed = (graph.targets.astype(np.uint64) + np.uint64(1)) * _MIX
    mixed ^= mixed >> np.uint64(29)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed * _MIX, dtype=np.uint64)])
    rows = sums[graph.starts[1:]] - sums[graph.starts[:-1]]
    pairs = np.stack([graph.sites[: graph.pages].astype(np.uint64), rows], axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    is_first: Flags = np.zeros(graph.pages, dtype=np.bool_)
    is_first[first] = True
    return graph.only(is_first[graph.sources], graph.nodes)


def _pruned(graph: WebGraph) -> WebGraph:
    """The graph without pages that have too few links for a core, and then again, until none has."""
    for _ in range(MAX_ROUNDS):
        fans = np.diff(graph.starts) >= LEAST_CENTRES
        centres = np.bincount(graph.targets, minlength=graph.nodes) >= LEAST_FANS
        kept = fans[graph.sources] & centres[graph.targets]
        if kept.all():
            break
        graph = graph.only(kept, graph.nodes)
    return graph


class _Growth:
    """Grows cores, and remembers which fans are taken."""

    def __init__(self, graph: WebGraph, max_steps: int) -> None:
        self._graph = graph
        self._fan_starts, self._fans = graph.reversed()
        self._is_taken = np.zeros(graph.pages, dtype=np.bool_)
        self.steps_left = max_steps

    def core_around(self, fan: int) -> Core | None:
        """Return the core that grows from a fan (the number of a page), None where the core has too few fans or the fan
        is in another core. It adds fans of further sites, as long as all share at least LEAST_CENTRES centres."""
        if self._is_taken[fan]:
            return None
        centres = self._centres(fan)
        fans, sites = [fan], {int(self._graph.sites[fan])}
        for other in self._alike(fan, centres):
            site = int(self._graph.sites[other])
            shared = np.intersect1d(centres, self._centres(other), assume_unique=True) if site not in sites else ()
            if len(shared) >= LEAST_CENTRES:
                centres = np.asarray(shared)
                fans.append(other)
                sites.add(site)
        if len(fans) < LEAST_FANS:
            return None
        self._is_taken[fans] = True
        return Core(tuple(sorted(fans)), tuple(centres.tolist()))

    def _alike(self, fan: int, centres: Ids) -> list[int]:
        """The fans that share enough centres with one, those that share most first."""
        lists = [self._fans[self._fan_starts[centre] : self._fan_starts[centre + 1]] for centre in centres]
        self.steps_left -= sum(map(len, lists))
        others, shared = np.unique(np.concatenate(lists), return_counts=True)
        is_one = (shared >= LEAST_CENTRES) & (others != fan) & ~self._is_taken[others]
        others, shared = others[is_one], shared[is_one]
        found: list[int] = others[np.lexsort((others, -shared))].tolist()
        return found

    def _centres(self, fan: int) -> Ids:
        found = self._graph.targets[self._graph.starts[fan] : self._graph.starts[fan + 1]]
        self.steps_left -= len(found) + 1
        return found
