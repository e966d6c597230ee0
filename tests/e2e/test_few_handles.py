"""A node with few handles that others fill with silence: it lives, lets its owner in, and answers on when they go."""

import resource
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from machines import STOPS_WITHIN_S, linked, village, wait_until

pytestmark = pytest.mark.e2e
FILES, SILENT, PAGES = 200, 1200, 30
WEB = {
    "a.test": linked(
        [f"topic{chr(97 + n)}" for n in range(26)] + [f"thing{chr(97 + n)}" for n in range(4)], "a.test", "a.test"
    )
}


def connect(stack: ExitStack, port: int) -> None:
    """SILENT connections to a port, as far as it takes them."""
    for _ in range(SILENT):
        caller = stack.enter_context(socket.socket())
        caller.settimeout(0.5)
        with suppress(OSError):
            caller.connect(("127.0.0.1", port))


@pytest.fixture
def many_files() -> Iterator[None]:
    """Handles enough for this process to hold all that it connects."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 3 * SILENT:
        pytest.skip("this machine gives too few handles to the test itself")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_silent_connections_end_no_node_with_few_handles(tmp_path: Path, many_files: None) -> None:
    with village(tmp_path, WEB, 23400) as town:
        one = town.add("one")
        one.files = FILES
        one.start()
        with ExitStack() as stack:
            one.do("crawl", f"http://a.test:{town.port}/", "--depth", "50")
            connect(stack, one.web_port)
            connect(stack, one.peer_port)
            for _ in range(10):
                one.do("status")  # its owner gets in
        wait_until("it crawls all the same", lambda: one.status()["documents"] >= PAGES)
        assert "Traceback" not in one.log and " ERROR " not in one.log
        one.stop()


@pytest.mark.prove
def test_a_node_that_others_leave_no_handle_lives_and_is_well_again(tmp_path: Path, many_files: None) -> None:
    """Its limit falls below what it has open: nothing can be opened at all, whoever took the handles."""
    with village(tmp_path, WEB, 23430) as town:
        one = town.add("one")
        one.start()
        assert one.process
        one.do("crawl", f"http://a.test:{town.port}/", "--depth", "50")
        wait_until("it crawls", lambda: one.status()["documents"] >= 3)
        limits = resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE, (5, limits[1]))
        wait_until("an upkeep task fails", lambda: "fault begins site=tasks" in one.log)
        time.sleep(20)
        assert one.process.poll() is None, one.log
        resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE, limits)
        wait_until("it answers again", one.is_up)
        assert any("ulimit -n" in warning for warning in one.status()["warnings"]), "its owner reads why"
        wait_until("it crawls on", lambda: one.status()["documents"] >= PAGES, 120)
        wait_until("and is well", lambda: not one.status()["faults"], 150)
        assert one.log.count("Traceback") == one.log.count("task failed name=disk-meter") == 1, "the first time"
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(STOPS_WITHIN_S) == 0
