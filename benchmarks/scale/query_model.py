"""Models one query in a network of any size: how long it waits, what it costs, what it misses.

Pure, but for chance by a seed. Each peer answers after a round trip and its work, and the asker works on each answer in
turn. A round ends with its slowest peer. In today's two rounds nobody is asked in place of a slow one; by the directory
a node's own plan decides who is asked (`fan_out.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.fan_out import Waves
from index.directory.slot_choice import FIRST_SLOTS
from node.extras.simulation.delays import RTT_S, SIGMA

QUERIES = 4_000
SHOWN_CPU_MS = 8.0  # ten documents fetched, scored again and cut into snippets
# `docs/search.md`: a typed query of five nodes costs 25 ms of CPU over all, by 6.3 questions and what is shown
QUESTION_CPU_MS = (25.0 - SHOWN_CPU_MS) / 6.3
ASKER_SHARE = 0.25  # of it at the asker: it packs, checks and merges; the other part is the peer's
ROW_CPU_MS = 0.25  # one question for a row, both sides: an authenticated exchange and a page of rows unpacked
LOOKUP_CPU_MS = 0.126 * 25  # `docs/overlay.md`: a UDP question and its answer; and so many of them
CHOICE_CPU_MS = 1.0  # bounds of all slots, measured by the selection
FETCH_PEERS = 4  # of whom the documents of a page of results are asked
OWNERS = 3  # of a document, of whom the quickest is asked
WORDS = 3
# slots of a wave, and the share of queries that need it, as on the medium tier (`docs/scale.md`)
WAVES = ((FIRST_SLOTS, 1.0), (FIRST_SLOTS, 0.50), (2 * FIRST_SLOTS, 0.24))
SLOW_SHARE = 0.01  # of the peers


@dataclass(frozen=True, slots=True)
class QueryCost:
    """What a query of one kind costs. `fast`: the share of queries none of whose peers is slow."""

    peers: float
    p50_ms: float
    p95_ms: float
    cpu_s: float
    fast: float


def today(peers: int, seed: int) -> QueryCost:
    """Return what two rounds over a cover of all slots cost."""
    rng = np.random.default_rng(seed)
    took = _round_ms(rng, peers) + _round_ms(rng, peers) + _shown_ms(rng)
    cpu_ms = 2 * peers * QUESTION_CPU_MS + SHOWN_CPU_MS
    return _cost(peers, took, cpu_ms)


def by_directory(
    waves: Sequence[Waves],
    seed: int,
    rows_ms: NDArray[np.float64] | None = None,
    owners_ms: NDArray[np.float64] | None = None,
    *,
    is_known: bool = True,
) -> QueryCost:
    """Return what waves by rows cost, which follow each other for fewer and fewer queries. `rows_ms`: what it takes to
    find a term's owners, one value for each trial; None where the rows are in the cache. `owners_ms`: what it takes to
    find a slot's; None where an asker knows all members. `is_known`: whether it knows how long each takes."""
    rng = np.random.default_rng(seed)
    took, cpu_ms = _shown_ms(rng, OWNERS if is_known else 1) + CHOICE_CPU_MS, CHOICE_CPU_MS + SHOWN_CPU_MS
    needs = rng.random(QUERIES)
    for wave, (_, share) in zip(waves, WAVES, strict=True):
        peers = round(wave.peers)
        wave_ms = rng.choice(wave.took_ms, QUERIES) + _work_ms(peers)
        if owners_ms is not None:
            wave_ms += rng.choice(owners_ms, (QUERIES, peers)).max(axis=1)
        took += wave_ms * (needs < share)
        each_ms = QUESTION_CPU_MS + (LOOKUP_CPU_MS if owners_ms is not None else 0.0)
        cpu_ms += wave.peers * each_ms * share
    if rows_ms is not None:
        took += (rng.choice(rows_ms, (QUERIES, WORDS)) + _rtt_ms(rng, (QUERIES, WORDS))).max(axis=1)
        cpu_ms += WORDS * (ROW_CPU_MS + (LOOKUP_CPU_MS if owners_ms is not None else 0.0))
    return _cost(waves[0].peers, took, cpu_ms)


def recall_when_silent(silent: float, owners: int = 3, tries: int = 2) -> float:
    """Return the share of slots that answer when this share of all peers is silent and nobody knows which: so many of a
    slot's owners are asked one after the other."""
    return 1 - silent ** min(tries, owners)


def _cost(peers: float, took: NDArray[np.float64], cpu_ms: float) -> QueryCost:
    p50, p95 = np.quantile(took, (0.5, 0.95))
    return QueryCost(peers, float(p50), float(p95), cpu_ms / 1000, (1 - SLOW_SHARE) ** peers)


def _round_ms(rng: np.random.Generator, peers: int) -> NDArray[np.float64]:
    """How long rounds over so many peers take."""
    return _slowest_ms(rng, peers) + _work_ms(peers)


def _work_ms(peers: int) -> float:
    """How long one peer works on a question, and the asker on all answers."""
    return QUESTION_CPU_MS * (1 - ASKER_SHARE + ASKER_SHARE * peers)


def _shown_ms(rng: np.random.Generator, owners: int = 1) -> NDArray[np.float64]:
    """How long the documents of what is shown take to come, each from the quickest of so many, and to be looked at."""
    return _slowest_ms(rng, FETCH_PEERS, owners) + SHOWN_CPU_MS


def _slowest_ms(rng: np.random.Generator, peers: int, owners: int = 1) -> NDArray[np.float64]:
    """The slowest of so many lognormal round trips, each the least of some owners', drawn by its quantile."""
    each = 1 - (1 - rng.random(QUERIES) ** (1 / peers)) ** (1 / owners)
    return RTT_S * 1000 * np.exp(SIGMA * _inverse_normal(each))


def _rtt_ms(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return RTT_S * 1000 * np.exp(SIGMA * rng.standard_normal(shape))


def _inverse_normal(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantiles of the normal distribution, right to 4.5e-4 (Abramowitz & Stegun, 26.2.23)."""
    tail = np.sqrt(-2 * np.log(np.clip(np.minimum(shares, 1 - shares), 1e-300, 0.5)))
    top = 2.515517 + 0.802853 * tail + 0.010328 * tail**2
    far = tail - top / (1 + 1.432788 * tail + 0.189269 * tail**2 + 0.001308 * tail**3)
    found: NDArray[np.float64] = np.where(shares > 0.5, far, -far)
    return found
