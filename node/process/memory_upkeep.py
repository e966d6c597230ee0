"""Keeps the memory of a running node small: cycles do not wait for a rare collection, and what is freed goes back.

Every query leaves some cycles behind, of tasks that were cancelled and their tracebacks. At the collector's thresholds
they would lie between living objects for half an hour, and the heap could not shrink again. Objects that lived for
minutes, as connections do, are old when they end: to find them, the collector looks at everything. Functions forget
their memos of busy times once the node rests.
"""

import asyncio
import ctypes
import gc
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import _lru_cache_wrapper
from itertools import count
from typing import Any

RARELY = (50_000, 20, 50)  # new objects before a look for garbage; such looks took 6 % of a crawl by default
LOOK_S = 10.0  # each commit of the index frees some 20 MB, which 2 ms give back
LOOKS = 6  # make a minute
PAUSED = 2  # looks without a new record: all of them are indexed
LARGE_BYTES = 1 << 17  # a buffer from here on is mapped by itself; each read of a TLS line takes 256 KiB at first
KEPT_FREE_BYTES = 16 << 20  # at the heap's end, until the next round
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # of mallopt(3)
OWN_PACKAGES = frozenset({"bootstrap", "crawl", "dht", "index", "node", "store"})
LARGE_MEMO = 1024  # entries; smaller ones hold little, and are made for what comes again
ALL_AGES = 10  # of these minutes one looks at everything that came since the start: 5 ms for 80,000 objects


def spare_collector() -> None:
    """Leave what is there now, which stays as long as the process, out of garbage collections, and have few of them."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RARELY)


def shape_heap() -> None:
    """Have one heap for all threads, and large buffers mapped apart from it, where the C library can (glibc's
    mallopt(3)); to be called before there are threads.

    By itself glibc gives threads up to eight heaps a core, and no thread uses the free room in another heap. Under load
    they grew by 8 MB in 50 minutes, while 45 MB stayed in use (docs/history/survival.md). And it puts buffers of up to
    32 MB into a heap once it has seen one freed. There a line that was read stays where its buffer of 256 KiB began,
    and the heap between such lines is free and lost. That was 13 MB after ten minutes under load, and 3 MB with mapped
    buffers. The unused part of a mapped buffer takes no memory, and all of it goes back.
    """
    with suppress(OSError, AttributeError, TypeError):  # another C library: all goes on as it is
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_ARENA_MAX, 1)
        libc.mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, KEPT_FREE_BYTES)


async def keep_memory_small(
    spare: Callable[[], Awaitable[bool]], pause: Callable[[], Awaitable[None]], written: Callable[[], int]
) -> None:
    """Once a minute, until cancelled, collect what is young, every ten minutes also what was in use for long, and give
    free memory back to the system. `spare` gives up what only a node at work needs, and tells whether it did.

    `written` counts the records that came. While there are new ones, free memory goes back every ten seconds. Once
    there was none for twenty, `pause` gives up what is kept for those who read them soon."""
    before, quiet = written(), PAUSED + 1
    for turn in count(1):
        await asyncio.sleep(LOOK_S)
        before, quiet = (now := written()), quiet + 1 if now == before else 0
        if quiet == PAUSED:
            await pause()
        if turn % LOOKS == 0:
            rests = await spare()
            if rests:
                forget_large_memos()
            gc.collect(2 if rests or turn % (LOOKS * ALL_AGES) == 0 else 1)
        elif quiet > PAUSED:
            continue
        await asyncio.to_thread(give_back)


def forget_large_memos() -> None:
    """Empty what functions of this program remember of thousands of calls; they find it again."""
    for memo in _memos():
        if (memo.cache_info().maxsize or 0) >= LARGE_MEMO:
            memo.cache_clear()


def _memos() -> Iterator["_lru_cache_wrapper[Any]"]:
    for name, module in tuple(sys.modules.items()):
        if name.partition(".")[0] in OWN_PACKAGES:
            yield from (each for each in tuple(vars(module).values()) if isinstance(each, _lru_cache_wrapper))


def give_back() -> None:
    """Give pages of the heap that hold nothing back to the system, where the C library can (glibc's malloc_trim(3))."""
    with suppress(OSError, AttributeError, TypeError):  # another C library: all goes on as it is
        ctypes.CDLL(None).malloc_trim(0)
