"""Runs the crawler's benchmark."""

import sys
from pathlib import Path

from benchmarks.crawl.parts import PARTS, measured, side_by_side
from benchmarks.figures import parser_for, show

PACKAGES = ("scrapy", "twisted", "aiohttp", "uvloop", "selectolax", "msgspec", "zstandard", "tantivy")


def main() -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("what a crawled page costs, beside Scrapy")
    parser.add_argument("--web", type=Path, help="folder with one subfolder per host; else the bundled sample")
    parser.add_argument("--part", choices=PARTS, help="these rows alone")
    chosen = parser.parse_args()
    parts = [chosen.part] if chosen.part else list(PARTS)
    alone = chosen.part or not chosen.quick
    found = measured(parts, chosen.quick, chosen.web) if alone else side_by_side(chosen.web)
    show("crawl", [each for name in parts for each in found[name]], PACKAGES, as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
