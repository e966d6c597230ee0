"""Runs the benchmark of the answer."""

import sys
import tempfile
from argparse import Namespace
from pathlib import Path

from benchmarks.figures import Row, parser_for, show
from benchmarks.search import (
    analysing,
    bending,
    joined_words,
    known_items,
    misspellings,
    near_duplicates,
    other_script,
    site_names,
    spam,
    typed,
    word_forms,
)
from benchmarks.search.extent import Extent
from benchmarks.search.figure import SPREAD
from node.extras.demo.sample_web import unpack_sample

PARTS = {
    "typed": typed,
    "known": known_items,
    "sites": site_names,
    "script": other_script,
    "joined": joined_words,
    "forms": word_forms,
    "spelling": misspellings,
    "bending": bending,
    "copies": near_duplicates,
    "spam": spam,
    "analysing": analysing,
}
PACKAGES = ("tantivy", "bm25s", "whoosh-reloaded", "PyStemmer", "opencc", "numpy")


def main() -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("how good answers are")
    parser.add_argument("--part", choices=PARTS, action="append", help="these rows alone; may be repeated")
    parser.add_argument("--judged", type=Path, metavar="DIR", help="folder of judged sets, or of one")
    parser.add_argument("--web", type=Path, metavar="DIR", help="one subfolder of pages per host; else the sample")
    parser.add_argument("--engine", default="tantivy", choices=["tantivy", "whoosh", "memory"])
    chosen: Namespace = parser.parse_args()
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        if chosen.web is None:
            unpack_sample(Path(folder))
        extent = Extent(chosen.judged, chosen.web or Path(folder), chosen.engine, quick=chosen.quick)
        for name in chosen.part or PARTS:
            found += PARTS[name].rows(extent)
    show("search", found, PACKAGES, as_json=chosen.json, spread=SPREAD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
