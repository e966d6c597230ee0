"""Describes the verb web-report for the command line; `node/extras/__init__.py` names this module."""

from node.cli.argument_types import Between
from node.cli.verb_building import Verbs, add_place, add_verb


def add_verbs(verbs: Verbs) -> None:
    """Add the verb web-report."""
    about = "measure the web that the network keeps, and write a page about its shape"
    shape = add_verb(
        verbs, "web-report", "node.extras.web_report.verb:web_report", about, "dse-node web-report shape.html"
    )
    shape.add_argument("out", metavar="OUT", help="the page, an HTML file; JSON with all figures is written beside it")
    shape.add_argument("--seed", type=int, default=1, metavar="S", help="decides what is drawn by chance (default 1)")
    about = "what is beyond is left out, and said to be (default 10 million: 2 GB of memory)"
    shape.add_argument("--max-links", type=Between(1, 200_000_000), default=10_000_000, metavar="N", help=about)
    about = "compute PageRank in so many processes (default 1)"
    shape.add_argument("--processes", type=Between(1, 64), default=1, metavar="N", help=about)
    add_place(shape, url=True, json=True)
