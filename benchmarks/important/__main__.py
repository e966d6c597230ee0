"""Measures how early a polite crawl fetches important pages, by several orders.

Important are the 1,000 pages with the highest PageRank in the whole web. A row is the share of them that is fetched
after 10, 25 and 50 % of the crawl. The webs are made up by a seed; sites take turns with the code of the crawler. Five
seeds; in --quick one, of a web that is a quarter as large.

`python -m benchmarks.important [--web NAME] [--quick] [--json]`
"""

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Row, parser_for, row, show
from benchmarks.important.goals import WAY
from benchmarks.important.policies import policies
from benchmarks.important.polite_crawl import Crawl, Web
from benchmarks.important.webs import WEBS
from benchmarks.pagerank.reference import power_iteration

SEEDS, SITES, PAGES, REQUESTS = 5, 1_300, 40_000, 40
TOP = 1_000
MOMENTS = (0.1, 0.25, 0.5)
FLOOR, OURS, CEILING = "breadth first", "in-links, famous sites", "true ranks, best page"


def shares(web: Web, requests: int) -> dict[str, NDArray[np.float64]]:
    """Return the share of the top pages that each policy has fetched at the moments."""
    pages = len(web.site)
    ranks = power_iteration(np.repeat(np.arange(pages), np.diff(web.starts)), web.targets, pages)
    is_top = np.zeros(pages, bool)
    is_top[np.argsort(-ranks)[:TOP]] = True
    found = {}
    for name, policy in policies(ranks).items():
        hits = np.cumsum(is_top[Crawl(web, policy, requests).run()]) / TOP
        found[name] = hits[[int(len(hits) * moment) - 1 for moment in MOMENTS]]
    return found


def rows(name: str, found: Sequence[dict[str, NDArray[np.float64]]]) -> list[Row]:
    """Return the rows of one web, by what each seed has shown."""
    made = []
    for policy in found[0]:
        for at, moment in enumerate(MOMENTS):
            values = [100 * float(each[policy][at]) for each in found]
            made.append(row(f"{name}, {policy}: after {moment:.0%}", values, "%"))
    for at, moment in enumerate(MOMENTS):
        ways = [float((one[OURS][at] - one[FLOOR][at]) / (one[CEILING][at] - one[FLOOR][at])) for one in found]
        goal = WAY if moment == 0.25 else None
        made.append(row(f"{name}, of the way after {moment:.0%}", ways, "", goal=goal, at_least=True))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether the goal is met or not."""
    parser = parser_for(__doc__.splitlines()[0])
    parser.add_argument("--web", choices=WEBS, help="only this web; else all")
    options = parser.parse_args(arguments)
    seeds, part = (1, 4) if options.quick else (SEEDS, 1)
    made = []
    for name in [options.web] if options.web else WEBS:
        make = WEBS[name]
        webs = [make(seed, SITES // part, PAGES // part) for seed in range(1, seeds + 1)]
        made += rows(name, [shares(web, REQUESTS // part) for web in webs])
    show("important", made, ["numpy"], as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
