"""The image is built without a registry of images, and three of its nodes become one network by the compose file."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.clean_machine import FETCH_S, ROOT, need
from tests.packaging.own_root import OwnRoot

pytestmark = pytest.mark.prove
HELPERS = ("/usr/lib/podman/netavark", "/usr/lib/podman/aardvark-dns")  # of networks and of names in them
READY_S = 30.0
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"


def test_three_containers_become_one_network(wheel: Path, debian: Path, tmp_path: Path) -> None:
    need("podman", "podman-compose", "crun", *HELPERS, "unshare", "ip")
    if (python := shutil.which("python3", path="/usr/bin")) and Path(python).resolve().name != PYTHON:
        pytest.skip(f"fetches wheels for {PYTHON}, which is not Debian's own Python here")
    wheels = tmp_path / "wheels"
    fetch = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", wheels]
    subprocess.run([*fetch, "hatchling", "setuptools", wheel], check=True, timeout=FETCH_S)
    judge = [sys.executable, Path(__file__).with_name("judge_compose.py"), debian, wheels]
    done = subprocess.run(
        ["unshare", "--mount", "--net", *judge], capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    seen = json.loads(done.stdout)
    assert seen["members"] == [3, 3, 3], seen["log"]
    assert "<form" in seen["page"] and "3 nodes in the network" in seen["status"]
    assert seen["account"] == "10001\n" and seen["root_is_written"] == "" and seen["ended"] == "0\n"
    assert seen["left"] == ""


def test_its_layout_is_a_node_in_a_root_of_its_own(tmp_path: Path) -> None:
    """Do what the Containerfile says, on this machine's own system instead of an image: podman is not needed."""
    root = OwnRoot(tmp_path / "root")
    text = (ROOT / "packaging" / "Containerfile").read_text().replace("\\\n", "")
    pip = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    around = {"PIP_ARGS": ""}
    for order, rest in re.findall(r"^([A-Z]+) (.*)$", text, re.M):
        if order == "RUN":
            root.run("sh", "-c", rest, online=True, **pip, **around)
        elif order == "COPY" and not rest.startswith("--from"):
            *names, place = rest.split()
            there = root.upper / place.removeprefix("/usr/") if place.startswith("/usr/") else root.folder / place[1:]
            for name in names:
                copy(ROOT / name, there / Path(name).name if place.endswith("/") else there)
        elif order == "ENV":
            around |= dict(word.split("=", 1) for word in rest.split())
    seen = root.judge("start-dse-node", **around)
    assert "<!doctype html>" in seen["page"] and seen["ready"] == "ready\n" and seen["ended"] == 0
    assert seen["ready_after_s"] < READY_S


def copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, place)
