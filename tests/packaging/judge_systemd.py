"""Starts the nodes of a package and of a volunteer under the systemd that runs here as process 1, and prints what was
seen as JSON.

It runs in a clean root, on Debian's own Python: python3 judge_systemd.py PACKAGE.
"""

import json
import os
import pwd
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

UNIT = "dse-node.service"
STATE = "/var/lib/dse-node"
VOLUNTEER = "volunteer"
SITE = "http://127.0.0.1:8001/"
PAGE = "<!doctype html><title>Harbour ferries</title><p>When the ferries of the harbour leave.</p>"
WATCHDOG_S = 6
PATIENCE_S = 90.0
LOCAL = ("--set", "crawl.allow_private=true")


def run(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def as_account(name: str) -> tuple[str, ...]:
    account = pwd.getpwnam(name)
    place = (f"HOME={account.pw_dir}", f"XDG_RUNTIME_DIR=/run/user/{account.pw_uid}", "PATH=/usr/bin:/bin")
    return "setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups", "env", "-i", *place


def wait_ready() -> float:
    """Return the seconds until the node says that it is ready."""
    began = time.monotonic()
    while True:
        try:
            with urlopen("http://127.0.0.1:8090/readyz", timeout=5) as answer:
                answer.read()
            return time.monotonic() - began
        except OSError:
            assert time.monotonic() < began + PATIENCE_S, run("journalctl", "--no-pager", "-n", "40")
            time.sleep(0.02)


def shown(*names: str) -> dict[str, str]:
    said = run("systemctl", "show", UNIT, "-p", ",".join(names))
    return dict(line.split("=", 1) for line in said.splitlines())


def search(words: str) -> int:
    """Return how many documents the node has for words, once it has any."""
    until = time.monotonic() + PATIENCE_S
    while True:
        with urlopen(f"http://127.0.0.1:8090/api/v1/search?q={words}", timeout=10) as answer:
            total = int(json.load(answer)["total"])
        if total or time.monotonic() > until:
            return total
        time.sleep(0.2)


def judge_package() -> dict[str, object]:
    as_node = as_account("dse-node")
    run(*as_node, "dse-node", "init", "--data-dir", STATE, "--yes", *LOCAL)
    began = time.monotonic()
    run("systemctl", "enable", "--now", UNIT)
    seen: dict[str, object] = {
        "started_s": time.monotonic() - began,
        "status": run("dse-node", "service", "status", "--system"),
    }
    seen["exposure"] = run("systemd-analyze", "security", "--no-pager", UNIT).splitlines()[-1]
    run(*as_node, "dse-node", "crawl", SITE, "--data-dir", STATE)
    seen["found"] = search("ferries")
    os.kill(int(shown("MainPID")["MainPID"]), 9)
    time.sleep(0.1)
    seen |= {"back_s": wait_ready(), "restarts": shown("NRestarts")["NRestarts"], "found_again": search("ferries")}
    run("systemctl", "stop", UNIT)
    seen["stopped"] = shown("Result", "ExecMainStatus")
    change = Path("/run/systemd/system") / f"{UNIT}.d" / "watchdog.conf"
    change.parent.mkdir(parents=True)
    change.write_text(f"[Service]\nWatchdogSec={WATCHDOG_S}\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "start", UNIT)
    time.sleep(2 * WATCHDOG_S)
    seen["alive"] = shown("NRestarts", "ActiveState")
    os.kill(int(shown("MainPID")["MainPID"]), 19)
    time.sleep(WATCHDOG_S + 1)
    wait_ready()
    seen["frozen"] = shown("NRestarts", "ActiveState")
    run("systemctl", "disable", "--now", UNIT)
    return seen


def judge_volunteer() -> dict[str, object]:
    run("useradd", "--create-home", VOLUNTEER)
    home, as_volunteer = pwd.getpwnam(VOLUNTEER), as_account(VOLUNTEER)
    change = Path("/run/systemd/system/user@.service.d/runtime.conf")  # libpam-systemd does it where people log in
    change.parent.mkdir(parents=True)
    change.write_text("[Service]\nEnvironment=XDG_RUNTIME_DIR=/run/user/%i\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "start", f"user@{home.pw_uid}.service")
    run(*as_volunteer, "dse-node", "init", "--yes", *LOCAL)
    seen: dict[str, object] = {"installed": run(*as_volunteer, "dse-node", "service", "install")}
    for words in (("daemon-reload",), ("enable", "--now", UNIT)):
        run(*as_volunteer, "systemctl", "--user", *words)
    seen["status"] = run(*as_volunteer, "dse-node", "service", "status")
    seen["exposure"] = run(*as_volunteer, "systemd-analyze", "--user", "security", "--no-pager", UNIT).splitlines()[-1]
    run(*as_volunteer, "dse-node", "crawl", SITE)
    seen["found"] = search("ferries")
    run(*as_volunteer, "systemctl", "--user", "stop", UNIT)
    run(*as_volunteer, "dse-node", "service", "remove")
    seen["left"] = [str(path) for path in (Path(home.pw_dir) / ".config" / "systemd").rglob("*dse-node*")]
    return seen


def main(package: str) -> None:
    run("dpkg", "-i", package)
    site = Path("/srv/site")
    site.mkdir()
    (site / "index.html").write_text(PAGE)
    server = [sys.executable, "-m", "http.server", "8001", "--bind", "127.0.0.1", "--directory", str(site)]
    with subprocess.Popen(server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as web:
        try:
            print(json.dumps({"package": judge_package(), "volunteer": judge_volunteer()}))
        finally:
            web.terminate()


if __name__ == "__main__":
    main(sys.argv[1])
