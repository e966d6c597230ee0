"""Computes ranks over several processes, each of which holds some slots and knows their links alone.

They go by rounds: each sweeps its slots and tells the others, by pipes and the process that started them; that one also
adds up what all say of their error, and ends it. A byte counts where it goes from one process to another; limits
(`index/rank/ledger.py`) are computed once for all.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.crawl.cap import capped
from benchmarks.pagerank.made_up_web import MadeUpWeb
from index.rank.inflow import InflowAck, InflowMessage
from index.rank.ledger import allowed_flows
from index.rank.link_graph import LinkGraph, build_graph
from index.rank.page_number import slots_of
from index.rank.page_rank import CONVERGED
from index.rank.slot_ranks import SlotRanks, error_of

PROCESSES, SLOT_BITS, MOST_ROUNDS = 5, 4, 200
SLOTS = 1 << SLOT_BITS
_encoder = msgspec.msgpack.Encoder()
_messages, _acks = msgspec.msgpack.Decoder(list[InflowMessage]), msgspec.msgpack.Decoder(list[InflowAck])


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """Values by number of the page, and what they cost. `bytes`: of each round, messages and acknowledgements."""

    numbers: NDArray[np.uint64]
    values: NDArray[np.float64]
    error: float
    bytes: Sequence[int]
    cpu_s: Sequence[float]  # of each process, without reading its links
    wall_s: float  # from when the last of them had read its links


def compute(web: MadeUpWeb, processes: int = PROCESSES, share: float | None = None) -> Computed:
    """Compute the ranks of a web's pages over so many processes. `share`: of one core, the most that each may use once
    it has read its links."""
    slots = slots_of(web.numbers, SLOT_BITS)
    documents = np.bincount(slots, minlength=SLOTS).astype(np.float64)
    lines, started = list[Connection](), []
    for process in range(processes):
        held = [slot for slot in range(SLOTS) if slot % processes == process]
        here, there = get_context("fork").Pipe()  # a fork has the web without reading it again
        child = get_context("fork").Process(target=_hold, args=(there, web, slots, held, processes))
        child.start()
        lines.append(here)
        started.append(child)
    try:
        for line in lines:
            line.recv()  # it has read its links
        with capped([child.pid or 0 for child in started], share) if share else nullcontext():
            began = time.perf_counter()
            error, sent = _rounds(lines, documents)
            wall_s = time.perf_counter() - began
        for line in lines:
            line.send(False)
        found = [line.recv() for line in lines]
    finally:
        for child in started:
            child.join(30)
    numbers = np.concatenate([numbers for numbers, _, _ in found])
    values = np.concatenate([values for _, values, _ in found])
    return Computed(numbers, values, error, sent, [cpu_s for _, _, cpu_s in found], wall_s)


def _rounds(lines: Sequence[Connection], documents: NDArray[np.float64]) -> tuple[float, Sequence[int]]:
    """Lead all processes round by round; return the error that is left and the bytes of each round."""
    error, sent = np.inf, list[int]()
    for now in range(1, MOST_ROUNDS + 1):
        for line in lines:
            line.send(True)
        told = [line.recv() for line in lines]
        claims = np.zeros((SLOTS, SLOTS))
        for _, statements in told:
            for each in statements:
                claims[each.slot, list(each.given)] = list(each.given.values())
        allowed = allowed_flows(claims, documents)
        sent.append(_pass_on(lines, [batches for batches, _ in told], allowed))
        answered = [line.recv() for line in lines]
        sent[-1] += _pass_on(lines, [batches for batches, _ in answered], now)
        error = error_of([each for _, statements in answered for each in statements])
        if error <= CONVERGED:
            break
    return error, sent


def _pass_on(lines: Sequence[Connection], batches: Sequence[Mapping[int, bytes]], news: object) -> int:
    """Give each process what the others have for it; return the bytes."""
    for process, line in enumerate(lines):
        line.send(([each[process] for each in batches if process in each], news))
    return sum(len(batch) for each in batches for batch in each.values())


def _hold(line: Connection, web: MadeUpWeb, slots: NDArray[np.int64], held: Sequence[int], processes: int) -> None:
    """Hold some slots, in a process of its own."""
    graphs = {slot: _graph(web, slots, slot) for slot in held}
    line.send("ready")
    began = time.process_time()
    holders = {slot: SlotRanks(graph, slot, 1, 0.0) for slot, graph in graphs.items()}
    now = 0
    while line.recv():
        messages = [message for holder in holders.values() for message in holder.step()]
        line.send((_batches(messages, [each.target for each in messages], held, processes), _statements(holders, now)))
        batches, allowed = line.recv()
        messages = [each for each in messages if each.target in holders]
        messages += [message for batch in batches for message in _messages.decode(batch)]
        for holder in holders.values():
            for source in range(SLOTS):
                holder.limit(source, allowed[source, holder.slot])
        acks = [holders[each.target].receive(each, allowed[each.source, each.target]) for each in messages]
        line.send((_batches(acks, [each.source for each in acks], held, processes), _statements(holders, now)))
        batches, now = line.recv()
        for ack in [each for each in acks if each.source in holders] + [a for b in batches for a in _acks.decode(b)]:
            holders[ack.source].acknowledge(ack)
    cpu_s = time.process_time() - began
    values = np.concatenate([holder.values for holder in holders.values()])
    line.send((np.concatenate([holder.numbers for holder in holders.values()]), values, cpu_s))


def _graph(web: MadeUpWeb, slots: NDArray[np.int64], slot: int) -> LinkGraph:
    here = np.flatnonzero(slots == slot)
    return build_graph(web.links(here), known=web.numbers[here].tolist(), slot=slot, slot_bits=SLOT_BITS)


def _statements(holders: Mapping[int, SlotRanks], now: float) -> list[object]:
    return [holder.statement(now) for holder in holders.values()]


def _batches(found: Sequence[object], slots: Sequence[int], held: Sequence[int], processes: int) -> dict[int, bytes]:
    by_process: dict[int, list[object]] = {}
    for each, slot in zip(found, slots, strict=True):
        if slot not in held:
            by_process.setdefault(slot % processes, []).append(each)
    return {process: _encoder.encode(batch) for process, batch in by_process.items()}
