"""Describes the verb demo for the command line; `node/extras/__init__.py` names this module."""

from pathlib import Path

from node.cli.argument_types import Between
from node.cli.verb_building import Verbs, add_json, add_verb


def add_verbs(verbs: Verbs) -> None:
    """Add the verb demo."""
    demo = add_verb(
        verbs,
        "demo",
        "node.extras.demo.runner:run_demo",
        "run a demo network on this machine",
        "dse-node demo --once",
    )
    demo.add_argument("--nodes", type=Between(1, 9), default=5, metavar="N", help="nodes, 1 to 9 (default 5)")
    demo.add_argument("--once", action="store_true", help="check every promise, report and end")
    demo.add_argument("--port", type=Between(1024, 60000), default=8090, metavar="P", help="first web port (8090)")
    demo.add_argument("--web", type=Path, metavar="DIR", help="a folder of sites, one subfolder per host")
    demo.add_argument("--queries", type=Path, metavar="FILE", help='JSON: [{"q": "words", "expect": "URL"}, …]')
    add_json(demo)
