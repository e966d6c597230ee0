"""Tells what anchors give known items and site names: of links from other domains, and as if each page were one.

`python -m benchmarks.search.anchors --web DIR`. Links whose text is one of the queries are withheld: they would tell
the answer. A web of few sites has few links between them, so the second trial counts every page as a site of its own.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from benchmarks.figures import Row, row, show
from benchmarks.search.figure import figure
from benchmarks.search.known_items import MOST
from benchmarks.search.known_rules import KINDS, known_items
from benchmarks.search.measures import DEPTH, reciprocal_rank
from benchmarks.search.quiet_network import ME
from benchmarks.search.site_names import site_names
from benchmarks.search.web_pages import WebPage, read_web
from benchmarks.search.weights import asked_of
from crawl.scope import domain_of
from index import Text
from index.search.copy_proof import believe
from index.search.result_picker import pick
from index.search.top_k_merge import MergedHit
from node.crawling.anchor_writer import anchor_texts
from store.record.anchor import MOST_ANCHORS

SITE = "site's name"


def anchored(pages: Sequence[WebPage], withheld: frozenset[str], *, by_page: bool) -> list[Text]:
    """Return the texts of pages with the anchors that other domains, or all pages, give them."""
    places = {page.url: place for place, page in enumerate(pages)}
    found: list[dict[str, str]] = [{} for _ in pages]
    for page in pages:
        links = [(link.url, link.anchor) for link in page.found.links if not link.nofollow]
        source = f"http://page{places[page.url]}.invalid/" if by_page else page.url
        for url, text in anchor_texts(source, links).items():
            if url in places and url != page.url and text not in withheld:
                found[places[url]].setdefault(source if by_page else domain_of(page.host), text)
    return [
        replace(page.text, anchors=tuple(list(texts.values())[:MOST_ANCHORS]))
        for page, texts in zip(pages, found, strict=True)
    ]


def rows(pages: Sequence[WebPage]) -> Iterator[Row]:
    """Yield what each kind of query has without anchors, and what it gains by them."""
    items = [(item.kind, item.host, item.words, item.targets) for item in known_items(pages, Random(1), MOST)]
    items += [(SITE, pages[min(found)].host, name, found) for name, found in sorted(site_names(pages).items())]
    withheld = frozenset(words for kind, _, words, _ in items if kind == "anchor")
    queries = [("MRR", words, {bytes(pages[place].text.id): 1 for place in places}) for _, _, words, places in items]

    def values(texts: Sequence[Text]) -> list[float]:
        asked = asked_of(texts, queries)
        picked = ((pick([MergedHit(hit, ME) for hit in each.hits], believe, DEPTH), each.judged) for each in asked)
        return [reciprocal_rank([each.found.hit.id for each in shown], judged) for shown, judged in picked]

    today = values([page.text for page in pages])
    for kind in (*KINDS, SITE):
        of = [number for number, item in enumerate(items) if item[0] == kind]
        yield figure(f"{kind} ({len(of)}), no anchors", [today[n] for n in of], "MRR", groups=[items[n][1] for n in of])
    for name, by_page in (("other domains", False), ("all pages", True)):
        texts = anchored(pages, withheld, by_page=by_page)
        yield row(f"pages with anchors of {name}", [float(sum(bool(text.anchors) for text in texts))], "")
        found = values(texts)
        for kind in (*KINDS, SITE):
            of = [number for number, item in enumerate(items) if item[0] == kind]
            gained, hosts = [found[n] - today[n] for n in of], [items[n][1] for n in of]
            yield figure(f"anchors of {name}: {kind}", gained, "MRR more", groups=hosts)


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description="what anchors give to scores")
    parser.add_argument("--web", type=Path, metavar="DIR", required=True, help="one subfolder of pages per host")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    chosen = parser.parse_args()
    show("anchors", list(rows(read_web(chosen.web))), (), as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
