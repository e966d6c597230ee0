"""Runs the benchmark of a query's price."""

import sys
import tempfile
from pathlib import Path

from benchmarks.figures import parser_for, show
from benchmarks.query.parts import PARTS, measured
from benchmarks.search.extent import Extent
from node.extras.demo.sample_web import unpack_sample

DOCUMENTS, QUICK_DOCUMENTS = 100_000, 10_000  # of one node
PACKAGES = ("tantivy", "msgspec", "aiohttp", "uvloop", "zstandard", "numpy")


def main() -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("what a query costs, and how many a node bears")
    parser.add_argument("--part", choices=PARTS, action="append", help="these rows alone; may be repeated")
    parser.add_argument("--web", type=Path, metavar="DIR", help="one subfolder of pages per host; else the sample")
    parser.add_argument("--documents", type=int, metavar="N", help="of the part `node`")
    chosen = parser.parse_args()
    documents = chosen.documents or (QUICK_DOCUMENTS if chosen.quick else DOCUMENTS)
    with tempfile.TemporaryDirectory() as folder:
        if chosen.web is None:
            unpack_sample(Path(folder))
        extent = Extent(web=chosen.web or Path(folder), documents=documents, quick=chosen.quick)
        found = measured(chosen.part or list(PARTS), extent)
    show("query", found, PACKAGES, as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
