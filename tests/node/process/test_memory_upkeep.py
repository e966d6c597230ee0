"""What a process freed goes back to the system."""

import platform
import subprocess
import sys

import pytest

# A process of its own: in one that has run long, new objects take free memory that is resident already.
FREED_BETWEEN_KEPT = """
from pathlib import Path
from node.process.memory_upkeep import give_back

def resident_bytes():
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024

before = resident_bytes()
pieces = [bytes(10_000) for _ in range(10_000)]
kept = pieces[::100]
full = resident_bytes()
del pieces
freed = resident_bytes()
give_back()
print(full - before, freed - before, resident_bytes() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library gives memory back by itself")
def test_pages_that_hold_nothing_go_back_though_others_between_them_are_in_use() -> None:
    told = subprocess.run([sys.executable, "-c", FREED_BETWEEN_KEPT], capture_output=True, check=True, text=True).stdout
    full, freed, given_back = map(int, told.split())
    assert full > 80_000_000 and freed > 80_000_000, "the kept ones hold the heap apart"
    assert given_back < 20_000_000
