"""Runs the benchmark of the store."""

import sys
import tempfile
from argparse import Namespace
from pathlib import Path

from benchmarks.figures import Row, parser_for, show
from benchmarks.store import compacting, puts, reads, reconciling, space, tables, transfer
from benchmarks.store.extent import Extent
from node.extras.demo.sample_web import unpack_sample

PARTS = {
    "puts": puts,
    "reads": reads,
    "space": space,
    "compaction": compacting,
    "reconciling": reconciling,
    "transfer": transfer,
    "tables": tables,
}
PACKAGES = ("zstandard", "msgspec", "rocksdict", "lmdb", "aiohttp", "uvloop")


def main() -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("the store's figures")
    parser.add_argument("--part", choices=PARTS, action="append", help="these rows alone; may be repeated")
    parser.add_argument("--web", type=Path, metavar="DIR", help="one subfolder of pages per host; else the sample")
    chosen: Namespace = parser.parse_args()
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        if chosen.web is None:
            unpack_sample(Path(folder))
        extent = Extent(chosen.web or Path(folder), chosen.quick)
        for name in chosen.part or PARTS:
            found += PARTS[name].rows(extent)
    show("store", found, PACKAGES, as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
