"""Looks for pages that somebody knows to be there, beside tantivy's best of title and all text."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any
from zlib import crc32

from benchmarks.figures import Row, row
from benchmarks.search.baselines import tantivy_fields
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out, weighted_mean
from benchmarks.search.goals import KNOWN_MEAN, KNOWN_MRR, OTHER_LANGUAGE_FIRST
from benchmarks.search.known_rules import KINDS, KnownItem, known_items
from benchmarks.search.measures import reciprocal_rank
from benchmarks.search.one_node import one_node
from benchmarks.search.plain_terms import plain_terms
from benchmarks.search.web_pages import WebPage, read_web

MOST = 400  # queries of a kind
FOLDS = 5  # of hosts
NEARLY = 0.88  # of the first result's score


def rows(extent: Extent) -> list[Row]:
    """Return the rows of all kinds of known items."""
    if extent.web is None:
        return [left_out("known items", "needs --web DIR")]
    pages = read_web(extent.web)
    items = known_items(pages, Random(1), extent.most(MOST))
    ours, hosts, weights = asyncio.run(ranks(pages, items, extent.engine)), [item.host for item in items], even(items)
    theirs = {name: tantivy_ranks(pages, items, demand=name == "AND") for name in ("AND", "OR")}
    name = max(theirs, key=lambda name: weighted_mean(theirs[name], weights))
    best, out = theirs[name], []
    for kind in KINDS:
        of = [number for number, item in enumerate(items) if item.kind == kind]
        peer = weighted_mean([best[number] for number in of])
        mine, where = [ours[number] for number in of], [hosts[number] for number in of]
        what = f"known by {kind} ({len(of)}), beside tantivy's {name}"
        out.append(figure(what, mine, "MRR", goal=KNOWN_MRR[kind], peer=peer, groups=where))
    peer = weighted_mean(best, weights)
    mean = figure("known, mean of these", ours, "MRR", goal=KNOWN_MEAN, peer=peer, groups=hosts, weights=weights)
    low = mean.spread[0] if mean.spread else 0.0
    return [
        *out,
        mean,
        row("its interval's lower end above tantivy's best", [low - peer], "MRR", goal=0.0, at_least=True),
        row(f"the same mean, by {FOLDS} folds of hosts", _by_fold(items, ours), "MRR"),
        figure("known items that are not among the first ten", [float(not each) for each in ours], groups=hosts),
        *asyncio.run(language_rows(pages, items, extent.engine)),
    ]


async def language_rows(pages: Sequence[WebPage], items: Sequence[KnownItem], engine: str) -> list[Row]:
    """Return the rows of askers who read the language of the page that they know."""
    ranked: list[float] = []
    led: dict[bool, list[float]] = {False: [], True: []}
    async with one_node([page.text for page in pages], engine) as node:
        for item in items:
            language = pages[min(item.targets)].text.language
            ranked.append(reciprocal_rank(await node.places(item.words, asker_language=language), item.targets))
            for is_told in led if language == "en" else ():
                said = {"asker_language": language} if is_told else {}
                led[is_told].append(is_led(language, (await node.ask(item.words, **said))["results"]))
    what = f"English ones ({len(led[True])}) with another language first and English nearly as good"
    return [
        figure("known, by askers of the page's language", ranked, "MRR", goal=KNOWN_MEAN, weights=even(items)),
        figure(what, led[True], goal=OTHER_LANGUAGE_FIRST, at_least=False),
        figure("  the same, the asker's language unknown", led[False]),
    ]


def is_led(language: str, results: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a page of another language stands first while one of this language scores nearly as much."""
    near = [each["language"] for each in results if each["score"] >= NEARLY * results[0]["score"]]
    return bool(near) and near[0] not in ("", language) and language in near


async def ranks(pages: Sequence[WebPage], items: Sequence[KnownItem], engine: str) -> list[float]:
    """Return the reciprocal rank of each item."""
    async with one_node([page.text for page in pages], engine) as node:
        return [reciprocal_rank(await node.places(item.words), item.targets) for item in items]


def tantivy_ranks(pages: Sequence[WebPage], items: Sequence[KnownItem], *, demand: bool) -> list[float]:
    """Return the reciprocal rank of each item by tantivy."""
    texts = [f"{page.found.text}\n{page.found.boilerplate}" for page in pages]
    titles = [page.found.title for page in pages]
    fields = [(plain_terms(title), plain_terms(text)) for title, text in zip(titles, texts, strict=True)]
    rank = tantivy_fields(fields, demand=demand)
    return [reciprocal_rank(rank(plain_terms(item.words)), item.targets) for item in items]


def even(items: Sequence[KnownItem]) -> list[float]:
    """Return weights with which all kinds count alike."""
    counts = Counter(item.kind for item in items)
    return [len(items) / len(counts) / counts[item.kind] for item in items]


def _by_fold(items: Sequence[KnownItem], ours: Sequence[float]) -> list[float]:
    weights, out = even(items), []
    for fold in range(FOLDS):
        of = [number for number, item in enumerate(items) if crc32(item.host.encode()) % FOLDS == fold]
        out.append(weighted_mean([ours[number] for number in of], [weights[number] for number in of]))
    return out
