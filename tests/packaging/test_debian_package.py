"""The Debian package, built by its script, is installed in a clean root, runs there, and leaves it clean."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from node.process.service_unit import PACKAGED
from node.version import VERSION
from tests.packaging.clean_machine import need
from tests.packaging.own_root import OwnRoot

pytestmark = pytest.mark.prove
READY_S = 30.0
IN_NAMESPACES = """
set -e
ip link set lo up
mount -t proc proc "$1/proc"
mount -t tmpfs -o mode=755 dev "$1/dev"
for device in null zero random urandom; do touch "$1/dev/$device"; mount --bind "/dev/$device" "$1/dev/$device"; done
exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin python3 -B /tmp/judge_debian.py "/tmp/$2"
"""


def test_it_is_installed_runs_and_leaves_nothing(package: Path, debian: Path, tmp_path: Path) -> None:
    need("unshare", "ip", "tar")
    root = tmp_path / "root"
    root.mkdir()
    subprocess.run(["tar", "-C", str(root), "-xf", str(debian)], check=True, timeout=300)
    for file in (package, Path(__file__).with_name("judge_debian.py")):
        shutil.copy(file, root / "tmp")
    judge = ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c", IN_NAMESPACES, "sh", str(root), package.name]
    done = subprocess.run(judge, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert "sudo dse-node open --data-dir /var/lib" in seen["installed"] and seen["version"] == f"dse-node {VERSION}\n"
    assert seen["unit"] == PACKAGED.text() and seen["state_mode"] == 0o700
    assert "<!doctype html>" in seen["page"] and seen["ready"] == "ready\n" and VERSION in seen["status"]
    assert seen["ended"] == 0 and seen["verified"] == ""
    assert seen["kept_when_removed"] == ["/var/lib/dse-node"]
    assert seen["left_when_purged"] == [] and seen["changed"] == []
    assert "dse-node" not in seen["accounts"]


def test_its_files_alone_are_a_node_in_a_root_of_its_own(package: Path, tmp_path: Path) -> None:
    root = OwnRoot(tmp_path / "root")
    subprocess.run(["dpkg-deb", "-x", package, tmp_path / "files"], check=True, timeout=300)
    for part in (tmp_path / "files" / "usr").iterdir():
        shutil.move(part, root.upper)
    assert not [*root.upper.rglob("tests"), *root.upper.rglob("*.pyi")], "what nobody runs makes it slower to install"
    state = "--data-dir /var/lib/dse-node"
    seen = root.judge("sh", "-c", f"dse-node init {state} --yes >&2 && exec dse-node run {state}")
    assert "<!doctype html>" in seen["page"] and seen["ready"] == "ready\n" and seen["ended"] == 0
    assert json.loads(seen["status"])["text_leaf"] == "compiled" and seen["ready_after_s"] < READY_S
