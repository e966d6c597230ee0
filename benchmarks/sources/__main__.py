"""Takes the tables of the sources again: `python -m benchmarks.sources [--part NAME] [--quick] [--json]`."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.figures import parser_for, show
from benchmarks.sources import crawlers, indexing, lecture, workers, yacy

PARTS = {
    "crawlers": crawlers.rows,
    "index": indexing.rows,
    "workers": workers.rows,
    "lecture": lecture.rows,
    "yacy": yacy.rows,
}
COLLECTED = ("lecture",)  # by benchmarks that `make bench` runs themselves: left out where all is run small
PACKAGES = ("aiohttp", "uvloop", "tantivy", "numpy")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts; return 0 whether goals are met or not."""
    parser = parser_for("the sources' tables again")
    parser.add_argument("--part", choices=PARTS, help="these rows alone")
    parser.add_argument("--yacy", type=Path, metavar="DIR", help="YaCy's sources, built by `ant compile`")
    chosen = parser.parse_args(arguments)
    parts = [chosen.part] if chosen.part else [name for name in PARTS if not (chosen.quick and name in COLLECTED)]
    made = PARTS | {"yacy": partial(yacy.rows, yacy=chosen.yacy)}
    found = [each for name in parts for each in made[name](chosen.quick)]
    show("sources", found, PACKAGES, as_json=chosen.json, spread="least … most of rounds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
