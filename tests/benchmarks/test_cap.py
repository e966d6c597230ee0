"""A capped program gets its share of a core."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.crawl.cap import can_cap, capped

WORK_S = 0.3  # of CPU
BUSY = f"import time; input(); end = time.process_time() + {WORK_S}\nwhile time.process_time() < end: pass"


@pytest.mark.prove
@pytest.mark.skipif(not can_cap(), reason="this machine lets nobody cap a program")
def test_a_program_takes_as_long_as_its_share_makes_it() -> None:
    busy = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE)
    with busy, capped([busy.pid], 0.1):
        began = time.monotonic()
        busy.communicate(b"\n", timeout=60)
        assert time.monotonic() - began > WORK_S / 0.13


def test_a_machine_that_lets_nobody_cap_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("benchmarks.crawl.cap.MOUNT", tmp_path)
    assert not can_cap()
