"""A capped program gets its share of a core."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.crawl.cap import can_cap, capped
from benchmarks.crawl.cpu import tree_s


@pytest.mark.prove
@pytest.mark.skipif(not can_cap(), reason="this machine lets nobody cap a program")
def test_programs_get_the_share_that_they_are_given_and_all_of_it_afterwards() -> None:
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        with capped([busy.pid], 0.1):
            before, began = tree_s(busy.pid), time.monotonic()
            time.sleep(3)
            assert tree_s(busy.pid) - before < 0.13 * (time.monotonic() - began) + 0.1
    finally:
        busy.kill()
        busy.wait()


def test_a_machine_that_lets_nobody_cap_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("benchmarks.crawl.cap.MOUNT", tmp_path)
    assert not can_cap()
