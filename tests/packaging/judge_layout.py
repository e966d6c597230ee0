"""Starts a node by a command in a root of its own, and prints what was seen as JSON: judge_layout.py COMMAND …"""

import json
import subprocess
import sys
import time

from judge_debian import fetch


def main(*command: str) -> None:
    begun = time.monotonic()
    with subprocess.Popen(command, stdout=sys.stderr) as node:
        try:
            seen: dict[str, object] = {"page": fetch("/"), "ready": fetch("/readyz")}
            seen["ready_after_s"] = time.monotonic() - begun
            seen["status"] = fetch("/api/v1/status")
        finally:
            node.terminate()
        node.wait(30)
    print(json.dumps({**seen, "ended": node.returncode}))


if __name__ == "__main__":
    main(*sys.argv[1:])
