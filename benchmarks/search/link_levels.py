"""Tries levels of pages and of hosts, by their links, in scores, and tells what known items and site names gain.

`python -m benchmarks.search.link_levels --web DIR`. The best documents of each query are scored again. Links whose text
is one of the queries are withheld: they would tell the answer. Of each use the share is taken that gains most over
all queries, which favours it; a use pays for a kind of query where the interval of what it gains begins above 0. Judged
sets have no links, so levels change nothing there.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean

from benchmarks.figures import Row, row, show
from benchmarks.search.figure import figure
from benchmarks.search.known_items import MOST
from benchmarks.search.known_rules import KINDS, known_items
from benchmarks.search.measures import DEPTH, reciprocal_rank
from benchmarks.search.quiet_network import ME
from benchmarks.search.site_names import site_names
from benchmarks.search.web_pages import WebPage, read_web
from benchmarks.search.weights import Asked, asked_of
from crawl.scope import domain_of
from index import build_graph
from index.query.scoring import Scorer
from index.rank.host_rank import host_edges, rank_hosts
from index.rank.page_rank import rank_pages
from index.rank.rank_level import level_of
from index.search.copy_proof import believe
from index.search.result_picker import pick
from index.search.top_k_merge import MergedHit
from index.shard.messages import HitRow

SITE = "site's name"
SHARES = (0.02, 0.05, 0.1, 0.2, 0.4)  # of all words' weights, or of the score
Levels = Mapping[bytes, float]  # by document, of the highest level


@dataclass(frozen=True, slots=True)
class Scored:
    """A document of a query: its score, what a reward of all words' weights would add to it, and whether it is a front
    page that a word of the query names."""

    hit: HitRow
    score: float
    reward: float
    is_named_front: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """A query with its best documents by today's ranking. `host`: of what it means."""

    kind: str
    host: str
    scored: Sequence[Scored]
    judged: Mapping[bytes, int]

    def value(self, score: Callable[[Scored], float]) -> float:
        """Return the reciprocal rank of what is meant, in the order of other scores."""
        scored = sorted((-score(each), each.hit.id, each.hit) for each in self.scored)
        shown = pick([MergedHit(hit, ME) for _, _, hit in scored], believe, DEPTH)
        return reciprocal_rank([each.found.hit.id for each in shown], self.judged)


def rewarded(levels: Levels, share: float) -> Callable[[Scored], float]:
    """Every document earns by its level."""
    return lambda each: each.score + share * levels[each.hit.id] * each.reward


def rewarded_fronts(levels: Levels, share: float) -> Callable[[Scored], float]:
    """Front pages whose address has a word of the query earn by their level."""
    return lambda each: each.score + each.is_named_front * share * levels[each.hit.id] * each.reward


def penalised(levels: Levels, share: float) -> Callable[[Scored], float]:
    """What has less than the highest level is multiplied by less than 1."""
    return lambda each: each.score * (1 - share * (1 - levels[each.hit.id]))


USES = {
    "reward of all pages": rewarded,
    "reward of front pages": rewarded_fronts,
    "penalty of all pages": penalised,
}


def link_levels(pages: Sequence[WebPage], withheld: frozenset[str]) -> Mapping[str, Levels]:
    """Return the levels of pages and of their hosts, as shares of the highest one."""
    links = [[link.url for link in page.found.links if link.anchor not in withheld] for page in pages]
    numbers = {url: n for n, url in enumerate({p.url for p in pages} | {url for found in links for url in found})}
    graph = build_graph((numbers[p.url], [numbers[u] for u in found]) for p, found in zip(pages, links, strict=True))
    of_page = dict(zip(graph.numbers.tolist(), rank_pages(graph).ranks.tolist(), strict=True))
    read = ((page.host, [_host(url) for url in found]) for page, found in zip(pages, links, strict=True))
    edges = host_edges(read, domain_of)
    of_host = dict(zip(edges.hosts, rank_hosts(edges).tolist(), strict=True))
    by_page = {bytes(page.text.id): level_of(of_page[numbers[page.url]], len(of_page)) for page in pages}
    by_host = {bytes(page.text.id): level_of(of_host[page.host], len(of_host)) for page in pages}
    return {"page": _parts(by_page), "host": _parts(by_host)}


def _host(url: str) -> str:
    return url.split("/")[2]


def _parts(levels: Mapping[bytes, int]) -> Levels:
    most = max(levels.values())
    return {id: level / max(most, 1) for id, level in levels.items()}


def trials(pages: Sequence[WebPage]) -> Iterator[Trial]:
    """Yield all queries with their documents."""
    items = [(item.kind, item.host, item.words, item.targets) for item in known_items(pages, Random(1), MOST)]
    items += [(SITE, pages[min(found)].host, name, found) for name, found in sorted(site_names(pages).items())]
    queries = [("MRR", words, {bytes(pages[place].text.id): 1 for place in places}) for _, _, words, places in items]
    asked = asked_of([page.text for page in pages], queries)
    for (kind, host, *_), each in zip(items, asked, strict=True):
        yield Trial(kind, host, [_scored(each, hit) for hit in each.hits], each.judged)


def _scored(asked: Asked, hit: HitRow) -> Scored:
    scorer, numbers = Scorer(asked.query, asked.statistics), hit.numbers
    score, alone = scorer.score(numbers), scorer.relevance(numbers.tfs, numbers.lengths, numbers.is_front)
    is_named = numbers.is_front and any(counts[2] for counts in numbers.tfs)
    return Scored(hit, score, sum(scorer.weights) * score / alone if alone else 0.0, is_named)


def rows(pages: Sequence[WebPage]) -> Iterator[Row]:
    """Yield what each use gains each kind of query."""
    asked = list(trials(pages))
    withheld = frozenset(item.words for item in known_items(pages, Random(1), MOST) if item.kind == "anchor")
    today = [each.value(lambda scored: scored.score) for each in asked]
    for kind in (*KINDS, SITE):
        of = [number for number, each in enumerate(asked) if each.kind == kind]
        hosts = [asked[number].host for number in of]
        yield figure(f"{kind} ({len(of)}), today", [today[number] for number in of], "MRR", groups=hosts)
    for name, levels in link_levels(pages, withheld).items():
        yield row(f"different levels of a {name}", [float(len(set(levels.values())))], "")
        for use, made in USES.items():
            tried = {share: [each.value(made(levels, share)) for each in asked] for share in SHARES}
            share = max(SHARES, key=lambda share: fmean(tried[share]))
            for kind in (*KINDS, SITE):
                of = [number for number, each in enumerate(asked) if each.kind == kind]
                gained = [tried[share][number] - today[number] for number in of]
                hosts = [asked[number].host for number in of]
                yield figure(f"{name}'s level, {use} × {share:g}: {kind}", gained, "MRR more", groups=hosts)


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description="what levels by links would give to scores")
    parser.add_argument("--web", type=Path, metavar="DIR", required=True, help="one subfolder of pages per host")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    chosen = parser.parse_args()
    show("link levels", list(rows(read_web(chosen.web))), (), as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
