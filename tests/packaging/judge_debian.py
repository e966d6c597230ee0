"""Installs the Debian package in a clean root, runs its node, takes it away, and prints what was seen as JSON.

It runs in that root, on Debian's own Python: python3 judge_debian.py PACKAGE.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

STATE = "/var/lib/dse-node"
PAGE = "http://127.0.0.1:8090"
APART = (
    "/proc",
    "/sys",
    "/dev",
    "/tmp",
    "/var/log",
    "/run",
)  # what is no package's; nor are the copies that adduser leaves in /etc


def files() -> dict[str, tuple[int, int]]:
    """Every file of the root, with what tells that it was changed."""
    found = {}
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if not os.path.join(folder, name).startswith(APART)]
        for name in (*folders, *(name for name in names if folder != "/etc" or not name.endswith("-"))):
            known = os.lstat(path := os.path.join(folder, name))
            found[path] = (known.st_mode, known.st_uid)
    return found


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def fetch(path: str, within_s: float = 60.0) -> str:
    until = time.monotonic() + within_s
    while True:
        try:
            with urlopen(PAGE + path, timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def main(package: str) -> None:
    before = files()
    seen: dict[str, object] = {"installed": run("dpkg", "-i", package)}
    state = os.lstat(STATE)
    seen |= {"state_mode": state.st_mode & 0o777, "version": run("dse-node", "--version")}
    seen["unit"] = Path("/usr/lib/systemd/system/dse-node.service").read_text()
    as_node = ("setpriv", f"--reuid={state.st_uid}", f"--regid={state.st_gid}", "--clear-groups", "dse-node")
    run(*as_node, "init", "--data-dir", STATE, "--yes")
    with subprocess.Popen([*as_node, "run", "--data-dir", STATE], stderr=subprocess.PIPE, text=True) as node:
        try:
            seen |= {"page": fetch("/"), "ready": fetch("/readyz")}
            seen["status"] = run("dse-node", "status", "--data-dir", STATE)  # as root, who could write anywhere
        finally:
            node.terminate()
        node.communicate(timeout=30)
    seen |= {"ended": node.returncode, "verified": run("dpkg", "--verify", "dse-node")}
    run("dpkg", "-r", "dse-node")
    kept = sorted(set(files()) - set(before))
    seen["kept_when_removed"] = [path for path in kept if not path.startswith(("/var/lib/dpkg/", f"{STATE}/"))]
    run("dpkg", "-P", "dse-node")
    after = files()
    seen["left_when_purged"] = sorted(set(after) - set(before))
    seen["changed"] = sorted(path for path in before if after.get(path) != before[path])
    seen["accounts"] = Path("/etc/passwd").read_text()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1])
