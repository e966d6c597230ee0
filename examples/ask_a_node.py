"""Ask a running node over HTTP and print what it found. Standard library only.

    .venv/bin/python examples/ask_a_node.py "opening hours"
    .venv/bin/python examples/ask_a_node.py "opening hours" --node http://127.0.0.1:8190 --pages 2

Exits with 1 where no node answers, the query is wrong, or nothing was found.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener


def search(node: str, query: str, pages: int) -> Iterator[dict[str, Any]]:
    """Yield the results of the first pages, in order; raises HTTPError where the node refuses."""
    cursor = ""
    for _ in range(pages):
        with build_opener(ProxyHandler({})).open(
            f"{node}/api/v1/search?{urlencode({'q': query, 'cursor': cursor})}", timeout=30
        ) as answer:
            body = json.load(answer)
        if body["partial"]:
            print(f"only {body['coverage']['answered']} of {body['coverage']['slots']} slots answered", file=sys.stderr)
        elif not body["exact"]:
            print(f"not exact: {', '.join(each['reason'] for each in body['why'])}", file=sys.stderr)
        yield from body["results"]
        cursor = body.get("next_cursor") or ""
        if not cursor:
            return


def main() -> int:
    """Print one result a line: its place, its title and its address."""
    parser = argparse.ArgumentParser(description="search a dse network by one of its nodes")
    parser.add_argument("query")
    parser.add_argument("--node", default="http://127.0.0.1:8090", help="the web listener of a node")
    parser.add_argument("--pages", type=int, default=1, help="pages of ten results")
    arguments = parser.parse_args()
    place = 0
    try:
        for place, result in enumerate(search(arguments.node, arguments.query, arguments.pages), 1):
            print(f"{place:3} {result['title']}  {result['url']}")
    except HTTPError as error:
        problem = json.load(error)  # RFC 9457: status, title, detail, and the position in a query that does not parse
        print(f"{problem['title']}: {problem['detail']}", file=sys.stderr)
        return 1
    except URLError as error:
        print(f"{arguments.node}: {error.reason}; does a node run there?", file=sys.stderr)
        return 1
    return 0 if place else 1


if __name__ == "__main__":
    sys.exit(main())
