"""`dse-node stop` and `dse-node logs`."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from node.cli.main import main
from node.config.data_dir import DataDir

HOLDER = """
import sys, time
from pathlib import Path
from node.config.data_dir import DataDir
with DataDir(Path(sys.argv[1])).lock():
    print("held", flush=True)
    time.sleep(60)
"""


def test_stop_ends_the_process_that_holds_the_directory(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stop", "--data-dir", home]) == 1
    assert "does not run" in capsys.readouterr().err
    command = [sys.executable, "-c", HOLDER, home]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        assert main(["stop", "--data-dir", home]) == 0
        assert holder.wait(10) == -signal.SIGTERM
    assert capsys.readouterr().out == f"stopped; start it again: dse-node run --data-dir {home}\n"


def test_stop_ends_no_process_that_merely_has_the_number_of_the_holder(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting = [sys.executable, "-c", "input()"]
    with (
        DataDir(Path(home)).lock(),
        subprocess.Popen(waiting, stdin=subprocess.PIPE) as other,
    ):
        (Path(home) / "lock").write_text(f"{other.pid}\n")
        assert main(["stop", "--data-dir", home]) == 1
        assert other.poll() is None
        other.kill()
    assert "cannot be seen from here" in capsys.readouterr().err


def test_logs_print_the_newest_lines_oldest_first_without_what_a_terminal_obeys(
    place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["logs", *place]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 200 and all(" WARNING crawl.fetch " in line for line in lines)
    assert lines == sorted(lines) and lines[0].startswith("2027-01-15T08:00:00.000Z")
