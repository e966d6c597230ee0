"""The image is built without a registry of images, and three of its nodes become one network by the compose file."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.clean_machine import FETCH_S, need

pytestmark = pytest.mark.prove
HELPERS = ("/usr/lib/podman/netavark", "/usr/lib/podman/aardvark-dns")  # of networks and of names in them
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
