"""Hand in an address and follow the crawl that it begins until everything has an outcome. Standard library only.

    .venv/bin/python examples/follow_a_crawl.py https://www.example.edu/ ~/.local/share/dse-node/admin.token --depth 2

`dse-node paths` prints where a node keeps its token. Exits with 1 where the node refused the address.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener


def post(url: str, token: str, body: dict[str, Any]) -> dict[str, Any]:
    """Send JSON with the node's token and return the JSON of the answer; raises HTTPError."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with build_opener(ProxyHandler({})).open(Request(url, json.dumps(body).encode(), headers), timeout=60) as answer:
        return dict(json.load(answer))


def follow(node: str, token: str, seeds: list[dict[str, Any]]) -> None:
    """Ask for the state of the seeds and of what they led to, and print each outcome, until none waits."""
    waiting, known = {seed["url"]: seed for seed in seeds}, {seed["url"] for seed in seeds}
    while waiting:
        asked = list(waiting.values())[:250]  # one question may name no more
        for answer in post(f"{node}/api/v1/crawl/progress", token, {"urls": asked})["urls"]:
            entry = waiting.pop(answer["url"])
            if answer["state"] in ("waiting", "unknown"):
                waiting[answer["url"]] = entry  # at the end, so that the others have their turn
            else:
                print(f"{answer['state']:9} {answer['url']} {answer['reason']}".rstrip())
            waiting |= {found["url"]: found for found in answer["found"] if found["url"] not in known}
            known |= waiting.keys()
        time.sleep(0.5 if waiting else 0)


def main() -> int:
    """Hand the address in, with its whole host as the scope, and follow it."""
    parser = argparse.ArgumentParser(description="hand in an address and follow its crawl")
    parser.add_argument("url")
    parser.add_argument("token", type=Path, help="the file admin.token of the node")
    parser.add_argument("--node", default="http://127.0.0.1:8090", help="the node's web listener")
    parser.add_argument("--depth", type=int, default=1, help="links to follow")
    arguments = parser.parse_args()
    token, depth = arguments.token.expanduser().read_text().strip(), arguments.depth
    order = {"urls": [arguments.url], "depth": depth, "scope": "host"}
    told = post(f"{arguments.node}/api/v1/crawl", token, order)
    for refused in told["refused"]:
        print(f"refused   {refused['url']} {refused['reason']}")
    seeds = [{"url": seed["url"], "depth": depth, "scope": seed["scope"]} for seed in told["seeds"]]
    follow(arguments.node, token, seeds)
    return 1 if told["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
