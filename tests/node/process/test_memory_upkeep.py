"""Memory that a process freed goes back to the system."""

import asyncio
import gc
import platform
import subprocess
import sys
import weakref

import pytest

from dht.keys import split_url
from node.extras.simulation.loop import SimLoop
from node.process.memory_upkeep import LOOK_S, LOOKS, PAUSED, RARELY, keep_memory_small

# A process of its own: in one that has run long, new objects take free memory that is resident already.
FREED_BETWEEN_KEPT = """
import asyncio, contextlib, itertools
from pathlib import Path
from node.extras.simulation.loop import SimLoop
from node.process.memory_upkeep import LOOK_S, keep_memory_small

async def work():
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LOOK_S + 1):
            await keep_memory_small(None, None, itertools.count().__next__)

def resident_bytes():
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024

before = resident_bytes()
pieces = [bytes(10_000) for _ in range(10_000)]
kept = pieces[::100]
full = resident_bytes()
del pieces
freed = resident_bytes()
SimLoop().run(work())
print(full - before, freed - before, resident_bytes() - before)
"""


LARGE_AND_UNUSED = """
from pathlib import Path
from node.process.memory_upkeep import shape_heap

def resident_bytes():
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024

shape_heap()
before = resident_bytes()
for _ in range(3):
    bytes(8_000_000)
unused = bytes(8_000_000)
print(resident_bytes() - before)
"""

MANY_THREADS = """
import ctypes, threading
from node.process.memory_upkeep import shape_heap

shape_heap()
together = threading.Barrier(8)

def use():
    together.wait()
    pieces = [bytes(10_000) for _ in range(1_000)]
    together.wait()

threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""

glibc_alone = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library has other habits")


@glibc_alone
def test_what_is_not_used_of_a_large_buffer_takes_no_memory_though_others_were_freed_before() -> None:
    told = subprocess.run([sys.executable, "-c", LARGE_AND_UNUSED], capture_output=True, check=True, text=True).stdout
    assert int(told) < 1_000_000


@glibc_alone
def test_threads_share_one_heap() -> None:
    told = subprocess.run([sys.executable, "-c", MANY_THREADS], capture_output=True, check=True, text=True).stdout
    assert told.count("<heap nr=") == 1


@glibc_alone
def test_of_a_node_that_writes_pages_that_hold_nothing_go_back_within_seconds_though_others_are_in_use() -> None:
    told = subprocess.run([sys.executable, "-c", FREED_BETWEEN_KEPT], capture_output=True, check=True, text=True).stdout
    full, freed, given_back = map(int, told.split())
    assert full > 80_000_000 and freed > 80_000_000, "the kept ones hold the heap apart"
    assert given_back < 20_000_000


class Connection:
    """Something that refers to itself, as what the loop calls back does."""

    def __init__(self) -> None:
        self.me = self


async def nothing() -> None:
    """Give up nothing."""


def test_once_nothing_was_written_for_some_looks_what_is_kept_for_readers_is_given_up_once() -> None:
    given_up = list[float]()

    async def spare() -> bool:
        return False

    async def use() -> None:
        now = asyncio.get_running_loop().time

        async def pause() -> None:
            given_up.append(now())

        async with asyncio.TaskGroup() as tasks:
            upkeep = tasks.create_task(keep_memory_small(spare, pause, lambda: min(int(now()), 95)))
            await asyncio.sleep(600)
            upkeep.cancel()

    SimLoop().run(use())
    assert given_up == [100 + PAUSED * LOOK_S]


def test_what_was_in_use_for_long_goes_within_minutes_of_its_end() -> None:
    async def use() -> weakref.ref[Connection]:
        async def spare() -> bool:
            return False

        async with asyncio.TaskGroup() as tasks:
            upkeep = tasks.create_task(keep_memory_small(spare, nothing, lambda: 0))
            connection = Connection()
            await asyncio.sleep(300)
            seen = weakref.ref(connection)
            del connection
            await asyncio.sleep(660)
            upkeep.cancel()
        return seen

    thresholds = gc.get_threshold()
    gc.set_threshold(*RARELY)
    try:
        assert SimLoop().run(use())() is None
    finally:
        gc.set_threshold(*thresholds)


def test_once_the_node_rests_functions_forget_thousands_of_calls_and_answer_as_before() -> None:
    async def rest() -> None:
        async def spare() -> bool:
            return True

        async with asyncio.TaskGroup() as tasks:
            upkeep = tasks.create_task(keep_memory_small(spare, nothing, lambda: 0))
            await asyncio.sleep(LOOK_S * LOOKS + 1)
            upkeep.cancel()

    before = [split_url(f"http://a.test/{number}") for number in range(500)]
    SimLoop().run(rest())
    assert split_url.cache_info().currsize == 0
    assert [split_url(f"http://a.test/{number}") for number in range(500)] == before
