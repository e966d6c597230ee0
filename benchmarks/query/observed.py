"""Runs a node that watches its own queries:

    python -m benchmarks.query.observed REPORT ARGUMENTS…

runs `dse-node ARGUMENTS…`. At each SIGUSR1 it writes the file REPORT, a JSON object. That has the queries that were
begun here, how many of them asked no peer for statistics, and the messages that they sent. It has the seconds of
processor time by chain of files, too. Samples are taken from SIGUSR2 to the next.
"""

import json
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.cpu import thread_used_s
from benchmarks.figures import ROOT

EVERY_S = 0.004
NO_FILE = "-"  # of this program
STATISTICS = "AskStatistics"  # the message of a query's first round
_sent: ContextVar[Counter[str] | None] = ContextVar("sent", default=None)


class Sampler:
    """Divides the processor time of a process among chains of files, while it is on.

    The system sends a signal each time that the process has used EVERY_S. The sample counts for the thread that has
    used most since the last one."""

    def __init__(self) -> None:
        self._samples = defaultdict[str, Counter[str]](Counter)  # by kind of thread and chain
        self._used_s, self._began_s = 0.0, 0.0
        self._before: dict[threading.Thread | None, float] = {}

    def toggle(self) -> None:
        """Begin, or end."""
        if self._began_s:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._used_s, self._began_s = self._used_s + time.process_time() - self._began_s, 0.0
        else:
            self._before, self._began_s = _used(), time.process_time()
            signal.signal(signal.SIGPROF, self._sample)
            signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)

    def seconds(self) -> Counter[str]:
        """Return the seconds of processor time by chain. A thread that had come to rest when its sample was taken did
        what its like do otherwise."""
        found, each_s = Counter[str](), self._used_s / (sum(map(Counter.total, self._samples.values())) or 1)
        for samples in self._samples.values():
            whole, working = samples.total(), samples.total() - samples[NO_FILE]
            shown = {files: count for files, count in samples.items() if files != NO_FILE or not working}
            found.update({files: each_s * whole * count / (working or whole) for files, count in shown.items()})
        return found

    def _sample(self, _: int, frame: FrameType | None) -> None:
        used = _used()
        busiest = max(used, key=lambda each: used[each] - self._before.get(each, 0.0))
        self._before = used
        if busiest is None:
            self._samples[""][""] += 1
            return
        is_main = busiest is threading.main_thread()
        files = chain(frame if is_main else sys._current_frames().get(busiest.ident or 0))
        self._samples[busiest.name.rstrip("_0123456789")][files] += 1


def _used() -> dict[threading.Thread | None, float]:
    """Return the processor time of each thread, of all that are not Python's under None."""
    found: dict[threading.Thread | None, float] = {
        each: thread_used_s(each.native_id) for each in threading.enumerate() if each.native_id
    }
    return {**found, None: time.process_time() - sum(found.values())}


def chain(frame: FrameType | None) -> str:
    """Return the files of this program that a frame is in, the innermost first, from the root of the checkout on."""
    found, root = dict[str, None](), f"{ROOT}/"
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(root) and "site-packages" not in file:  # .venv lies in the checkout
            found[file.removeprefix(root)] = None
        frame = frame.f_back
    return ";".join(found) or NO_FILE


def count_queries() -> dict[str, Any]:
    """Have each query counted from now on; return the tally that is kept."""
    from dht.overlay.messenger import Messenger
    from index.asking.searcher import Searcher

    tally: dict[str, Any] = {"queries": 0, "one_round": 0, "messages": 0}
    carry_out, ask = Searcher.carry_out, Messenger.ask

    async def counting(self: Searcher, running: Any) -> dict[str, Any]:
        _sent.set(sent := Counter[str]())
        try:
            return await carry_out(self, running)
        finally:
            tally["queries"] += 1
            tally["one_round"] += not sent[STATISTICS]
            tally["messages"] += sent.total()

    async def noting(self: Messenger, peer: Any, message: Any, *rest: Any, **named: Any) -> Any:
        if (sent := _sent.get()) is not None and peer != self._node_id:
            sent[type(message).__name__] += 1
        return await ask(self, peer, message, *rest, **named)

    Searcher.carry_out, Messenger.ask = counting, noting  # type: ignore[method-assign]
    return tally


def main() -> int:
    """Run `dse-node ARGUMENTS…`, and write REPORT when told."""
    _, report, *arguments = sys.argv
    from node.cli.main import main as run

    tally, sampler, asked = count_queries(), Sampler(), threading.Event()

    def answer() -> None:
        while asked.wait():
            asked.clear()
            new = Path(report).with_suffix(".new")
            new.write_text(json.dumps({**tally, "seconds": sampler.seconds()}))
            new.replace(report)

    signal.signal(signal.SIGUSR1, lambda *_: asked.set())
    signal.signal(signal.SIGUSR2, lambda *_: sampler.toggle())
    threading.Thread(target=answer, daemon=True).start()
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
