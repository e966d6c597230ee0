"""Checks what Li Xiaoming's lecture of 2003 asks of a crawler: each demand by the benchmark that measures it, in short.

The demands are:

- about 200 fetches at once on a machine
- one address for a page, however it is written
- a test of known URLs
- protection against traps that end nowhere
- detection of pages that are there twice

Politeness is judged by the server's log in the rows of fetches and of traps.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import duplicates, seen, traps
from benchmarks.crawl import open as open_
from benchmarks.figures import Row, row
from benchmarks.search.web_pages import read_web
from crawl import canonical_url
from node.extras.demo.sample_web import unpack_sample

FETCHES_2003 = 200
KNOWN, QUICK_KNOWN = 10**6, 10**5  # URLs; `python -m benchmarks.seen` has 10⁸
TRAPS_WITHIN_S, QUICK_TRAPS_WITHIN_S = 1500.0, 50.0


def rows(quick: bool) -> list[Row]:
    """Return the rows of all demands."""
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as known:
        root, most = Path(name), 20 if quick else 100_000
        unpack_sample(root)
        twice = [*duplicates.rows_of(duplicates.texts_of(root, most))]
        twice += duplicates.mirror_rows(duplicates.sites_of(root), most)
        address = address_rows([page.url for page in read_web(root)])
        tested = seen.measure(QUICK_KNOWN if quick else KNOWN, Path(known))
    at_once = [each for each in open_.rows(quick, None) if "CPU" not in each.what]
    at_once[0] = replace(at_once[0], peer=f"{FETCHES_2003} in 2003")
    return [
        *_of("fetches at once", at_once),
        *_of("one address", address),
        *_of("known URLs", tested),
        *_of("traps", _trap_rows(QUICK_TRAPS_WITHIN_S if quick else TRAPS_WITHIN_S)),
        *_of("pages twice", twice),
    ]


def address_rows(urls: Sequence[str]) -> list[Row]:
    """Return how many addresses of pages come out differently when they are written in other ways."""
    other = [(url, way) for url in urls for way in ways(url)]
    apart = sum(canonical_url(way) != canonical_url(url) for url, way in other)
    return [row(f"of {len(other):,} other ways to write {len(urls)} addresses, apart", [apart], "addresses", goal=0)]


def ways(url: str) -> Iterator[str]:
    """Yield other ways to write an address: its port, dot segments, capital letters of the host, a fragment."""
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    yield f"{scheme}://{host}:80/{path}"
    yield f"{scheme}://{host}/./a/../{path}"
    yield f"{scheme.upper()}://{host.upper()}/{path}"
    yield f"{url}#part"


def _trap_rows(within_s: float) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="dse-traps-", ignore_cleanup_errors=True) as name:
        found = asyncio.run(traps.crawl(None, traps.DELAY_S, within_s, Path(name)))
    return [each for each in traps.figures(found, traps.DELAY_S) if each.goal]


def _of(demand: str, found: Sequence[Row]) -> list[Row]:
    return [replace(each, what=f"{demand}: {each.what}") for each in found]
