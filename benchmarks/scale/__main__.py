"""Measures scale: `python -m benchmarks.scale [--part selection|network|model] [--quick] [--web DIR]`."""

import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Row, parser_for, show
from benchmarks.scale import model, network, selection
from benchmarks.scale.extent import Extent
from benchmarks.search.figure import SPREAD
from node.extras.demo.sample_web import unpack_sample

PARTS = {"selection": selection, "network": network, "model": model}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("which slots a query has to ask, and what a network of any size costs")
    parser.add_argument("--part", choices=PARTS, action="append", help="these rows alone; may be repeated")
    parser.add_argument("--web", type=Path, metavar="DIR", help="one subfolder of pages per host; else the sample")
    parser.add_argument("--judged", type=Path, metavar="DIR", help="folder of judged sets, or of one")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="where to draw what the model says, as SVG")
    chosen: Namespace = parser.parse_args(arguments)
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        if chosen.web is None:
            unpack_sample(Path(folder))
        extent = Extent(chosen.web or Path(folder), chosen.judged, chosen.plots, chosen.quick)
        for name in chosen.part or PARTS:
            found += PARTS[name].rows(extent)
    show("scale", found, ("numpy", "PyStemmer"), as_json=chosen.json, spread=SPREAD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
