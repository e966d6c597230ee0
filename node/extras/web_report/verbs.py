"""Describes the verb web-report for the command line; `node/extras/__init__.py` names this module."""

from pathlib import Path

from node.cli.argument_types import Between
from node.cli.verb_building import Verbs, add_place, add_verb


def add_verbs(verbs: Verbs) -> None:
    """Add the verb web-report."""
    about = "measure the stored web and write a report about its shape"
    shape = add_verb(
        verbs, "web-report", "node.extras.web_report.verb:web_report", about, "dse-node web-report shape.html"
    )
    shape.add_argument(
        "out", metavar="OUT", help="the HTML file; JSON with all figures and CSV with all ranks are written next to it"
    )
    about = "report how many of these sites are known, and how many pages of each are stored: one host a line"
    shape.add_argument("--list", type=Path, metavar="FILE", help=about)
    shape.add_argument("--seed", type=int, default=1, metavar="S", help="random seed (default 1)")
    about = "use at most N links, and note the rest (default 10 million: 2 GB of memory)"
    shape.add_argument("--max-links", type=Between(1, 200_000_000), default=10_000_000, metavar="N", help=about)
    about = "number of processes for PageRank (default 1)"
    shape.add_argument("--processes", type=Between(1, 64), default=1, metavar="N", help=about)
    add_place(shape, url=True, json=True)
