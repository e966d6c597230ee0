"""Run the crawler's benchmark."""

import sys
from pathlib import Path

from benchmarks.crawl import million, ratio, scaling
from benchmarks.crawl import open as open_
from benchmarks.figures import Row, parser_for, show

PARTS = {"ratio": ratio, "open": open_, "scaling": scaling, "million": million}
PACKAGES = ("scrapy", "twisted", "aiohttp", "uvloop", "selectolax", "msgspec", "zstandard", "tantivy")


def main() -> int:
    """0 whether goals are met or not."""
    parser = parser_for("what a crawled page costs, beside Scrapy")
    parser.add_argument("--web", type=Path, help="folder with one subfolder per host; else the bundled sample")
    parser.add_argument("--part", choices=PARTS, help="these rows alone")
    chosen = parser.parse_args()
    found: list[Row] = []
    for name, part in PARTS.items():
        if chosen.part in (None, name):
            found += part.rows(chosen.quick, chosen.web)
    show("crawl", found, PACKAGES, as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
