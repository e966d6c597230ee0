"""However a demo ends, it leaves no process and no folder behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from survival import ROOT, processes_of

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="counts processes")]
STOPPED_WITHIN_S = 10.0


def start(tmp_path: Path, port: int, nodes: int) -> subprocess.Popen[str]:
    """An interactive demo in a home and a temporary folder of its own."""
    environment = os.environ | {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "node", "demo", "--port", str(port), "--nodes", str(nodes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        cwd=tmp_path,
    )


def read_until(demo: subprocess.Popen[str], words: str) -> None:
    assert demo.stdout is not None
    said = []
    for line in demo.stdout:
        said.append(line)
        if words in line:
            return
    raise AssertionError(f"it never said {words!r}: {said}")


def wait_until(what: Callable[[], bool], within_s: float) -> None:
    until = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < until, "it never came to pass"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "nodes", "words", "times"),
    [
        (signal.SIGINT, 1, "Starting", 1),  # before there is any network
        (signal.SIGINT, 1, "Crawling", 100),  # the impatient press until it ends
        (signal.SIGTERM, 2, "node-2", 1),
    ],
)
def test_a_signal_ends_everything(tmp_path: Path, number: signal.Signals, nodes: int, words: str, times: int) -> None:
    with start(tmp_path, 18600, nodes) as demo:
        read_until(demo, words)
        assert processes_of(tmp_path)
        began = time.monotonic()
        for _ in range(times):
            demo.send_signal(number)
            time.sleep(0.05)
            if demo.poll() is not None:
                break
        output = demo.communicate(timeout=STOPPED_WITHIN_S + 5)[0]
        assert time.monotonic() - began < STOPPED_WITHIN_S
    assert demo.returncode == 0, output
    assert "Traceback" not in output and "nothing is left running" in output
    assert processes_of(tmp_path) == [] and not list(tmp_path.glob("dse-demo-*"))


def test_children_do_not_outlive_a_demo_that_was_killed(tmp_path: Path) -> None:
    with start(tmp_path, 18620, 1) as demo:
        read_until(demo, "Crawling")
        demo.kill()
    wait_until(lambda: processes_of(tmp_path) == [], STOPPED_WITHIN_S)
