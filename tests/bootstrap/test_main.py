"""The bare bootstrap node as a process: it starts, says where, stops cleanly, and explains what is wrong."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap import new_network
from dht import Identity, Strategy

ROOT = Path(__file__).parents[2]


def network_file(folder: Path) -> Path:
    first = Strategy(network="", version=1, effective_at=0, next_at=2**40, expires_at=2**41)
    path = folder / "network.toml"
    path.write_text(new_network("main", [Identity(b"\1" * 32)], first))
    return path


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bootstrap", "--data-dir", str(folder / "data"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)


def test_it_runs_until_it_is_told_to_stop_and_keeps_its_identity(tmp_path: Path):
    path = network_file(tmp_path)
    names: list[str] = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = str(probe.getsockname()[1])
        arguments = ("--network", str(path), "--port", port, "--listen-v4", "127.0.0.1", "--listen-v6", "")
        with start(tmp_path, *arguments, "--allow-private") as process:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert f"127.0.0.1:{port}" in line
            names.append(line.split("id=")[1][:40])
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0
            assert "Traceback" not in process.stderr.read()
    assert names[0] == names[1]


def test_it_starts_neither_twice_nor_as_another_node(tmp_path: Path):
    arguments = ("--network", str(network_file(tmp_path)), "--port", "9", "--listen-v4", "127.0.0.1")
    (tmp_path / "data" / "dht").mkdir(parents=True)
    (tmp_path / "data" / "dht" / "peers").write_text("")
    with start(tmp_path, *arguments) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1 and "identity: is missing" in errors and errors.count("\n") == 1
    assert not (tmp_path / "data" / "identity").exists()
    with (tmp_path / "data" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with start(tmp_path, *arguments) as process:
            _, errors = process.communicate(timeout=120)
    assert process.returncode == 1 and "in use by another process" in errors and errors.count("\n") == 1


def test_a_port_in_use_is_one_line_and_exit_code_1(tmp_path: Path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        arguments = ("--network", str(network_file(tmp_path)), "--port", port, "--listen-v4", "127.0.0.1")
        with start(tmp_path, *arguments, "--listen-v6", "") as process:
            _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert port in errors and errors.count("\n") == 1


@pytest.mark.parametrize("text", ["", "name = 1"])
def test_a_bad_network_file_is_one_line_and_exit_code_78(tmp_path: Path, text: str):
    path = tmp_path / "network.toml"
    path.write_text(text)
    with start(tmp_path, "--network", str(path)) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 78
    assert errors.startswith(f"bootstrap: {path}: network file: ") and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "text"), [("--listen-v4", "999"), ("--listen-v4", "::1"), ("--listen-v6", "127.0.0.1"), ("--listen-v6", "x")]
)
def test_an_address_that_is_none_is_named_in_one_line(tmp_path: Path, option: str, text: str):
    with start(tmp_path, "--network", str(network_file(tmp_path)), option, text) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 2 and "Traceback" not in errors
    assert f"{option}: {text!r} is not an IPv{option[-1]} address" in errors
