"""Does the verbs about the process of a node: stop it, and read its log."""

import os
import signal
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from node.api.body import Json
from node.cli.commands.output import print_json
from node.cli.commands.target_node import client, data_dir, run_command
from node.cli.http_client import HttpClient
from node.config.data_dir import DataDir
from node.errors import BadDataDir, DataDirLocked, HomeNotRunning
from node.views.safe_text import plain

STOPS_WITHIN_S = 60.0  # a node needs 5 s; one with much to write, or a slow disk, longer
LOOK_EVERY_S = 0.2
FOLLOW_EVERY_S = 1.0


def stop(arguments: Namespace) -> int:
    """Ask the node's process to end, and wait until it has."""
    data = data_dir(arguments)
    data.check()
    if not end_process(data):
        raise HomeNotRunning(str(data.root), "this node does not run", "nothing is to be stopped")
    print(f"stopped; start it again: {run_command(arguments)}")
    return 0


def end_process(data: DataDir) -> bool:
    """End the process that runs the node of a directory, and wait for that; return whether there was one. Raises
    DataDirLocked where it does not end."""
    pid = holder(data)
    if pid is None:
        return False
    try:
        os.kill(pid, signal.SIGTERM)
    except PermissionError:
        remedy = "run this as the account that runs the node, or `systemctl stop dse-node`"
        raise BadDataDir(str(data.root), f"process {pid} belongs to another account", remedy) from None
    until = time.monotonic() + STOPS_WITHIN_S
    while time.monotonic() < until:
        if holder(data) is None:
            return True
        time.sleep(LOOK_EVERY_S)
    raise DataDirLocked(str(data.root), pid)


def holder(data: DataDir) -> int | None:
    """Return the process that runs the node of a directory, None where none does. Raises BadDataDir where its number is
    another machine's, or a container's: a process that does not have the lock open is not the node."""
    try:
        with data.lock(only_reads=True):
            return None
    except DataDirLocked as held:
        lock = data.root / "lock"
        with suppress(OSError):
            if held.pid and any(_is_same(handle, lock) for handle in Path(f"/proc/{held.pid}/fd").iterdir()):
                return held.pid
        remedy = "stop it where it was started: systemctl stop dse-node, or the container's own command"
        raise BadDataDir(str(data.root), "the process that runs this node cannot be seen from here", remedy) from None


def _is_same(handle: Path, file: Path) -> bool:
    try:
        return handle.samefile(file)
    except OSError:
        return False


def logs(arguments: Namespace) -> int:
    """Print the newest lines of the running node's log, the oldest first; go on with `--follow`."""
    node = client(arguments, needs_token=True)
    for entry in _lines(node, follow=arguments.follow):
        if arguments.json:
            print_json(entry)
        else:
            at = datetime.fromtimestamp(entry["at"], UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
            print(f"{at}Z {entry['level']:<7} {entry['source']} {plain(entry['text'])}", flush=arguments.follow)
    return 0


def _lines(node: HttpClient, *, follow: bool) -> Iterator[Json]:
    shown = 0.0
    while True:
        for entry in node.get("/api/v1/log")["lines"]:
            if entry["at"] > shown:
                shown = entry["at"]
                yield entry
        if not follow:
            return
        time.sleep(FOLLOW_EVERY_S)
