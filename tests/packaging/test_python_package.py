"""The wheel is installed as people install programs, runs where the checkout is unknown, and leaves nothing."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from node.extras.demo.processes import free_ports
from node.version import VERSION
from tests.packaging.clean_machine import FETCH_S

pytestmark = pytest.mark.prove
Command = list[str | Path]


def by_pip(home: Path, wheel: Path) -> tuple[Command, Command]:
    subprocess.run([sys.executable, "-m", "venv", home / "venv"], check=True, timeout=120)
    return [home / "venv" / "bin" / "pip", "install", "--quiet", wheel], ["rm", "-r", home / "venv"]


def by_pipx(home: Path, wheel: Path) -> tuple[Command, Command]:
    return ["pipx", "install", wheel], ["pipx", "uninstall", "dse-node"]


def by_uv(home: Path, wheel: Path) -> tuple[Command, Command]:
    return ["uv", "tool", "install", "--python", sys.executable, wheel], ["uv", "tool", "uninstall", "dse-node"]


@pytest.mark.parametrize("way", [by_pip, by_pipx, by_uv])
def test_it_is_installed_and_runs_where_nothing_of_the_checkout_is_known(
    way: Callable[[Path, Path], tuple[Command, Command]], wheel: Path, tmp_path: Path
) -> None:
    tool = way.__name__.removeprefix("by_")
    if tool != "pip" and not shutil.which(tool):
        pytest.skip(f"{tool} is not on this machine")
    program = tmp_path / ("venv/bin" if tool == "pip" else ".local/bin") / "dse-node"
    kept = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "UV_", "SSL_"))}
    around = {**kept, "HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PIPX_HOME": str(tmp_path)}

    def run(*command: str | Path, within_s: float = 300) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=around, capture_output=True, text=True, timeout=within_s)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    install, uninstall = way(tmp_path, wheel)
    run(*install, within_s=FETCH_S)
    assert ("-abi3-" in wheel.name) or not shutil.which("cc"), "a compiler was there, and the wheel has no text leaf"
    assert run(program, "--version") == f"dse-node {VERSION}\n"
    web_port, peer_port = free_ports(2, 18780)
    settings = (f"node.web_port={web_port}", f"node.peer_port={peer_port}", "node.lan_discovery=false")
    run(program, "init", "--yes", *(word for each in (*settings, "node.map_ports=false") for word in ("--set", each)))
    log = tmp_path / "log"
    with log.open("w") as lines, subprocess.Popen([program, "run"], cwd=tmp_path, env=around, stderr=lines) as node:
        try:
            assert "<form" in fetch(f"http://127.0.0.1:{web_port}/")
            status = json.loads(run(program, "status", "--json"))
            assert status["version"] == VERSION
            assert (status["text_leaf"] == "compiled") is ("-abi3-" in wheel.name), status["text_leaf"]
        finally:
            node.terminate()
        assert node.wait(30) == 0, log.read_text()
    run(*uninstall)
    left = [path for path in tmp_path.rglob("*dse*") if ".cache" not in path.parts]
    assert [path.relative_to(tmp_path).as_posix() for path in left] == [".local/share/dse-node"]  # what the node keeps


def fetch(url: str, within_s: float = 60.0) -> str:
    until = time.monotonic() + within_s
    while True:
        try:
            with urlopen(url, timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            assert time.monotonic() < until, "the page never answered"
            time.sleep(0.2)
