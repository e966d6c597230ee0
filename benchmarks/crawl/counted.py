"""Runs a node that counts what it says to other nodes:

    python -m benchmarks.crawl.counted COUNTS ARGUMENTS…

runs `dse-node ARGUMENTS…` and writes {"messages", "message_bytes"} to the file COUNTS, once a second: questions asked
over TLS, and the bytes of these and their answers before encryption.
"""

import json
import sys
import threading
import time
from pathlib import Path

from dht.transport.tls_client import TlsClient
from dht.transport.transport import Route
from node.cli.main import main as run

EVERY_S = 1.0
_ask = TlsClient.ask
_counts = {"messages": 0, "message_bytes": 0}


async def _counting(self: TlsClient, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
    _counts["messages"] += 1
    _counts["message_bytes"] += len(body)
    answer = await _ask(self, route, name, body, timeout_s=timeout_s)
    _counts["message_bytes"] += len(answer)
    return answer


def _write(path: Path) -> None:
    while True:
        new = path.with_suffix(".new")
        new.write_text(json.dumps(_counts))
        new.replace(path)
        time.sleep(EVERY_S)


def main() -> int:
    """Run `dse-node ARGUMENTS…` and write its counts to the file COUNTS."""
    _, counts, *arguments = sys.argv
    TlsClient.ask = _counting  # type: ignore[method-assign]
    threading.Thread(target=_write, args=(Path(counts),), daemon=True).start()
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
