"""Measures scale: `python -m benchmarks.scale [--part network|model|terms] [--quick] [--web DIR] [--judged DIR]`."""

import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Row, parser_for, show
from benchmarks.scale import model, network, strongest_terms
from benchmarks.search.figure import SPREAD
from node.extras.demo.sample_web import unpack_sample

PARTS = ("network", "model", "terms")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("the cost of a query as a network grows")
    parser.add_argument("--part", choices=PARTS, action="append", help="these rows alone; may be repeated")
    parser.add_argument("--web", type=Path, metavar="DIR", help="one subfolder of pages per host; else the sample")
    parser.add_argument("--judged", type=Path, metavar="DIR", help="judged sets, one subfolder each; else none")
    chosen: Namespace = parser.parse_args(arguments)
    parts, found = chosen.part or PARTS, list[Row]()
    with tempfile.TemporaryDirectory() as folder:
        web = chosen.web or Path(folder)
        if chosen.web is None:
            unpack_sample(web)
        if "network" in parts:
            found += network.rows(web, is_quick=chosen.quick)
        if "terms" in parts:
            found += strongest_terms.rows(web, chosen.judged, is_quick=chosen.quick)
    if "model" in parts:
        found += model.rows(is_quick=chosen.quick)
    show("scale", found, ("numpy", "PyStemmer"), as_json=chosen.json, spread=SPREAD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
