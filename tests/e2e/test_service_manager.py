"""A started node tells its service manager that it is ready, lives and stops; a frozen one says nothing."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from survival import ROOT

pytestmark = pytest.mark.e2e
SETTINGS = ("node.web_port=18760", "node.peer_port=18761", "node.lan_discovery=false", "node.map_ports=false")
PATIENCE_S, QUIET_S = 60.0, 1.0  # for what must come; ten signs of life that do not


def test_a_node_is_heard_while_its_loop_turns(tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "-m", "node"]
    made = [*program, "init", "--data-dir", "node", "--yes", *(word for each in SETTINGS for word in ("--set", each))]
    subprocess.run(made, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=PATIENCE_S)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.settimeout(PATIENCE_S)
        environment |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
        with subprocess.Popen(
            [*program, "run", "--data-dir", "node"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE
        ) as node:
            try:
                assert heard.recv(1000) == b"READY=1\nSTATUS=search page: http://127.0.0.1:18760"
                assert [heard.recv(1000) for _ in range(3)] == [b"WATCHDOG=1"] * 3
                node.send_signal(signal.SIGSTOP)
                heard.settimeout(QUIET_S)
                with pytest.raises(TimeoutError):
                    while True:
                        assert heard.recv(1000) == b"WATCHDOG=1"  # what was under way
                node.send_signal(signal.SIGCONT)
                heard.settimeout(PATIENCE_S)
                assert heard.recv(1000) == b"WATCHDOG=1"
                node.send_signal(signal.SIGTERM)
                while (said := heard.recv(1000)) == b"WATCHDOG=1":
                    pass
                assert said == b"STOPPING=1"
                assert node.wait(PATIENCE_S) == 0
            finally:
                node.kill()
