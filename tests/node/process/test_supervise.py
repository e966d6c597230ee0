"""A node without systemd is started again, with pauses; what cannot help is not repeated; no child is left over."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from node.process.supervise import MOST_QUICK, QUICK_S, Restarts, supervise

PARENT = "from node.process.supervise import *; import sys; sys.exit(supervise(sys.argv[1:], Restarts(0.01)))"


def child(notes: Path, then: str) -> list[str]:
    """A command that notes its process id and does something."""
    note = f"import os, signal, sys, time; open({str(notes)!r}, 'a').write(f'{{os.getpid()}}\\n')"
    return [sys.executable, "-c", f"{note}; {then}"]


def started(notes: Path, count: int) -> list[int]:
    """The process ids of the children, once there are so many."""
    for _ in range(500):
        if notes.exists() and len(found := notes.read_text().split()) >= count:
            return list(map(int, found))
        time.sleep(0.02)
    raise AssertionError(f"fewer than {count} starts")


def is_gone(pid: int) -> bool:
    for _ in range(250):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_pauses_grow_and_end_after_quick_failures_in_a_row() -> None:
    restarts = Restarts()
    assert [restarts.pause(1, 0.5) for _ in range(MOST_QUICK)] == [2.0, 4.0, 8.0, 16.0, 32.0, None]
    restarts = Restarts()
    for _ in range(50):
        assert restarts.pause(137, QUICK_S) == 2.0, "a run of a minute begins the count anew"
        assert restarts.pause(1, 1.0) == 2.0 and restarts.pause(1, 1.0) == 4.0
    assert [Restarts().pause(code, 5.0) for code in (0, 2, 4, 78)] == [None] * 4


@pytest.mark.parametrize(
    ("then", "code", "starts"),
    [
        ("sys.exit(1)", 1, MOST_QUICK),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, MOST_QUICK),
        ("sys.exit(78)", 78, 1),
        ("sys.exit(0)", 0, 1),
    ],
)
def test_what_may_help_is_tried_again(
    tmp_path: Path, then: str, code: int, starts: int, capfd: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes"
    assert supervise(child(notes, then), Restarts(0.01)) == code
    assert len(notes.read_text().split()) == starts
    said = capfd.readouterr().err
    assert said.count("starts again") == starts - 1 and said.count("not started again") == (code != 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_stops_the_parent_stops_the_child_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    notes = tmp_path / "notes"
    clean = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); print('ready', flush=True); time.sleep(60)"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, *child(notes, clean)], stdout=subprocess.PIPE)
    assert parent.stdout is not None and parent.stdout.readline() == b"ready\n"
    parent.send_signal(number)
    assert parent.wait(10) == 0 and is_gone(started(notes, 1)[0])


def test_a_stop_during_a_pause_ends_it(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    script = PARENT.replace("0.01", "60.0")
    parent = subprocess.Popen(
        [sys.executable, "-c", script, *child(notes, "sys.exit(3)")], stderr=subprocess.PIPE, text=True
    )
    assert parent.stderr is not None and "code 3 after 0 s and starts again in 60 s" in parent.stderr.readline()
    parent.terminate()
    assert parent.wait(10) == 3 and len(started(notes, 1)) == 1


def test_a_parent_that_is_killed_leaves_no_child(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, *child(notes, "time.sleep(60)")])
    (pid,) = started(notes, 1)
    parent.kill()
    parent.wait(10)
    assert is_gone(pid)


def test_the_command_runs_the_node_as_a_child(tmp_path: Path) -> None:
    """There is no node in the directory: the child says so, and the code that makes a restart vain is passed on."""
    (tmp_path / "config.toml").write_text("[node]\nno_such_setting = 1\n")
    command = [sys.executable, "-m", "node", "run", "--supervise", "--data-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 78 and "no_such_setting" in done.stderr
    assert "code 78" in done.stderr and "not started again" in done.stderr
