"""Builds the image on a root of Debian, starts the three nodes of packaging/compose.yaml, and prints what it saw.

It runs as root in namespaces of its own: python3 judge_compose.py ROOT_ARCHIVE WHEELS. It prints JSON.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "packaging" / "compose.yaml"
WEB_PORTS = (8090, 8190, 8290)
SETTLED_S = 180.0
# What a machine without systemd, and a root without all its rights, must do without: limits, not what is tried here.
SETTINGS = """\
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


def run(*command: str | Path, within_s: float = 120.0, may_fail: bool = False) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=within_s)
    assert may_fail or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def prepare(folder: Path) -> None:
    """Make a podman that keeps everything in the folder, and a machine that has nothing but a loopback."""
    run("mount", "-t", "cgroup2", "none", "/sys/fs/cgroup")
    run("ip", "link", "set", "lo", "up")
    tools = folder / "bin"
    tools.mkdir()
    (folder / "containers.conf").write_text(SETTINGS)
    place = f"--root {folder}/store --runroot {folder}/run --tmpdir {folder}/tmp"
    (tools / "podman").write_text(f'#!/bin/sh\nexec /usr/bin/podman {place} "$@"\n')
    (tools / "podman").chmod(0o755)
    os.environ |= {"PATH": f"{tools}:{os.environ['PATH']}", "CONTAINERS_CONF": str(folder / "containers.conf")}


def build(archive: Path, wheels: Path) -> None:
    run("podman", "import", archive, "localhost/base", within_s=300)
    pip = "PIP_ARGS=--no-index --find-links=/wheels"
    arguments = ("--build-arg", "BASE=localhost/base", "--build-arg", pip, "--volume", f"{wheels}:/wheels:ro")
    # without networks of its own, which this root may not make for a build: pip is told to ask for nothing
    command = ("podman", "build", "--isolation", "chroot", "--format", "docker", "-t", "localhost/dse-node")
    run(*command, *arguments, "-f", ROOT / "packaging" / "Containerfile", ROOT, within_s=900)


def fetch(port: int, path: str) -> str:
    with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        return str(answer.read().decode())


def members(port: int) -> int:
    """How many nodes this one has in its network, once it is ready; 0 before."""
    try:
        return len(json.loads(fetch(port, "/api/v1/peers"))["peers"]) if fetch(port, "/readyz") == "ready\n" else 0
    except (OSError, ValueError):
        return 0


def watch() -> dict[str, object]:
    until = time.monotonic() + SETTLED_S
    while (counts := [members(port) for port in WEB_PORTS]) != [3, 3, 3] and time.monotonic() < until:
        time.sleep(1)
    node = "packaging_node2_1"
    seen: dict[str, object] = {
        "members": counts,
        "page": fetch(WEB_PORTS[1], "/"),
        "log": "" if counts[1] else run("podman", "logs", node, may_fail=True),
        "account": run("podman", "exec", node, "id", "-u"),
        "status": run("podman", "exec", node, "dse-node", "status"),
        "root_is_written": run("podman", "exec", node, "sh", "-c", "touch /x && echo yes", may_fail=True),
    }
    run("podman", "healthcheck", "run", node)  # fails where the image's check does
    run("podman", "stop", "--time", "30", node)
    seen["ended"] = run("podman", "inspect", node, "--format", "{{.State.ExitCode}}")
    return seen


def main(archive: Path, wheels: Path) -> None:
    with TemporaryDirectory(prefix="dse-", dir="/tmp") as folder:  # podman takes no long path
        prepare(Path(folder))
        build(archive, wheels)
        print(json.dumps(judge()))


def judge() -> dict[str, object]:
    try:
        run("podman-compose", "-f", COMPOSE, "up", "-d", "--no-build", within_s=300)
        seen = watch()
    finally:
        run("podman-compose", "-f", COMPOSE, "down", "-v", within_s=300, may_fail=True)
    seen["left"] = run("podman", "ps", "-aq") + run("podman", "volume", "ls", "-q")
    run("podman", "system", "reset", "--force", may_fail=True)
    return seen


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
