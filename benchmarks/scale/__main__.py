"""Measures scale: `python -m benchmarks.scale [--part network|model] [--quick] [--web DIR]`."""

import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Row, parser_for, show
from benchmarks.scale import model, network
from benchmarks.search.figure import SPREAD
from node.extras.demo.sample_web import unpack_sample

PARTS = ("network", "model")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("the cost of a query that asks all slots, as a network grows")
    parser.add_argument("--part", choices=PARTS, action="append", help="these rows alone; may be repeated")
    parser.add_argument("--web", type=Path, metavar="DIR", help="one subfolder of pages per host; else the sample")
    chosen: Namespace = parser.parse_args(arguments)
    parts, found = chosen.part or PARTS, list[Row]()
    if "network" in parts:
        with tempfile.TemporaryDirectory() as folder:
            if chosen.web is None:
                unpack_sample(Path(folder))
            found += network.rows(chosen.web or Path(folder), is_quick=chosen.quick)
    if "model" in parts:
        found += model.rows(is_quick=chosen.quick)
    show("scale", found, ("numpy", "PyStemmer"), as_json=chosen.json, spread=SPREAD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
