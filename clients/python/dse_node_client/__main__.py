"""Asks a node from the command line: dse-node-client search "opening hours". It ends with 1 where nothing is found."""

import argparse
import json
import sys
from pathlib import Path

from dse_node_client import Client, NodeError


def build_parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    top = argparse.ArgumentParser(prog="dse-node-client", description="ask a node of a dse network")
    top.add_argument("--node", default="http://127.0.0.1:8090", help="the node's web listener (default: %(default)s)")
    top.add_argument("--token", type=Path, help="the file admin.token of the node, for crawl and jobs")
    verbs = top.add_subparsers(dest="verb", required=True)
    search = verbs.add_parser("search", help="print one result a line: its place, its title and its address")
    search.add_argument("query")
    search.add_argument("--most", type=int, default=10, help="results (default: %(default)s)")
    crawl = verbs.add_parser("crawl", help="submit an address and print each outcome until nothing waits")
    crawl.add_argument("url")
    crawl.add_argument("--depth", type=int, default=1, help="links to follow (default: %(default)s)")
    crawl.add_argument("--scope", default="host", help="how far links may lead (default: %(default)s)")
    page = verbs.add_parser("page", help="print a stored page as JSON")
    page.add_argument("url")
    verbs.add_parser("status", help="print the node's state as JSON")
    verbs.add_parser("jobs", help="print the node's crawl jobs as JSON")
    return top


def do(node: Client, arguments: argparse.Namespace) -> int:
    """Do what a verb asks for and return the exit code."""
    if arguments.verb == "search":
        place = 0
        for place, result in enumerate(node.results(arguments.query, most=arguments.most), 1):
            print(f"{place:3} {result.get('title', '')}  {result['url']}")
        return 0 if place else 1
    if arguments.verb == "crawl":
        told = node.crawl(arguments.url, depth=arguments.depth, scope=arguments.scope)
        for refused in told["refused"]:
            print(f"{'refused':9} {refused['url']} {refused['reason']}")
        for outcome in node.follow(told["seeds"], arguments.depth):
            print(f"{outcome.state:9} {outcome.url} {outcome.reason}".rstrip(), flush=True)
        return 1 if told["refused"] else 0
    answer: object = node.page(arguments.url) if arguments.verb == "page" else getattr(node, arguments.verb)()
    print(json.dumps(answer, indent=2, ensure_ascii=False))
    return 1 if answer is None else 0


def main() -> int:
    """Ask the node that the command line names."""
    arguments = build_parser().parse_args()
    try:
        token = arguments.token.expanduser().read_text().strip() if arguments.token else ""
        return do(Client(arguments.node, token), arguments)
    except (NodeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
