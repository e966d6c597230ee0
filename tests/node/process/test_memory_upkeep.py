"""What a process freed goes back to the system."""

import platform
from pathlib import Path

import pytest

from node.process.memory_upkeep import give_back


def resident_bytes() -> int:
    """The anonymous memory of this process."""
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library gives memory back by itself")
def test_pages_that_hold_nothing_go_back_though_others_between_them_are_in_use() -> None:
    before = resident_bytes()
    pieces = [bytes(10_000) for _ in range(10_000)]
    kept = pieces[::100]
    assert resident_bytes() - before > 80_000_000
    del pieces
    give_back()
    assert resident_bytes() - before < 20_000_000
    assert len(kept) == 100
