"""Asks the slots that the directory names, of real pages, and compares with the exact answer."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, quantiles

from benchmarks.figures import Row, row
from benchmarks.scale.cells import HOST_BITS, Cells, by_host, by_slot
from benchmarks.scale.corpus import ALL_HASHES, BEST, Corpus, Found
from benchmarks.scale.extent import Extent
from benchmarks.scale.goals import BODY_RECALL, KNOWN_RECALL, RARE_PROVEN
from benchmarks.scale.reading import read_pages
from benchmarks.scale.row_sizes import size_rows
from benchmarks.search.figure import figure
from benchmarks.search.judged_sets import as_texts, read_set, set_folders
from benchmarks.search.known_rules import KnownItem, known_items
from dht import Slot
from index.directory.slot_bounds import SlotBounds
from index.directory.slot_choice import FIRST_SLOTS, SlotChoice, WaveSizes
from index.query.parser import parse_query

MOST = 200  # queries of a kind
FEW = WaveSizes(8, 8, 8)  # of 64 cells
RARE_SLOTS = 64  # a word in so many at most is rare
FIRST, AS_A_NODE = WaveSizes(FIRST_SLOTS, FIRST_SLOTS, FIRST_SLOTS), WaveSizes()
PAGES_A_SLOT = 8
SIZED_PAGES = 250  # of larger webs the rows of fewer terms are counted, those of the least hashes
KINDS = {"title": KNOWN_RECALL, "anchor": KNOWN_RECALL, "body": BODY_RECALL}
BODY_WORDS = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of one query. `recall`: the share of the exact best ten that was found; `slots`: asked in `waves`;
    `is_rare`: a word of it is in few slots."""

    kind: str
    host: str
    recall: float
    is_proven: bool
    slots: int
    waves: int
    is_rare: bool
    cpu_ms: float


def rows(extent: Extent) -> list[Row]:
    """Return the figures of the web, and of each judged set."""
    pages = read_pages(extent.web)
    items = three_words(known_items(pages, Random(1), extent.most(MOST), KINDS))
    texts = [page.text for page in pages]
    del pages  # their links take as much memory as all else
    most_hash = ALL_HASHES * SIZED_PAGES // max(len(texts), SIZED_PAGES)
    corpus = Corpus(texts, [parse_query(item.words) for item in items], most_hash)
    bits = max(HOST_BITS + 1, (len(texts) // PAGES_A_SLOT).bit_length())
    cells = Cells(corpus, bits, by_slot(corpus.texts, bits))
    found = [*_of_hosts(corpus, items), *_of_slots(corpus, cells, items), *size_rows(cells, corpus.sample)]
    for folder in set_folders(extent.judged) if extent.judged else []:
        found += _of_judged(folder.name, extent)
    return found


def _of_judged(name: str, extent: Extent) -> list[Row]:
    """People's questions, on documents that lie in cells by chance: no cell is about anything."""
    assert extent.judged
    judged = read_set(next(each for each in set_folders(extent.judged) if each.name == name), extent.most(MOST))
    items = [KnownItem("question", words, frozenset(), query) for query, words in judged.queries.items()]
    corpus = Corpus(as_texts(judged.documents), [parse_query(item.words) for item in items], 0)
    asked = ask_all(corpus, Cells(corpus, HOST_BITS, by_host), items, FEW)
    what = f"{name}, {len(corpus.texts):,} documents by chance in 64 cells, {FEW.each} asked"
    return [
        figure(f"{what}: recall@{BEST}", [each.recall for each in asked]),
        figure(f"{what}: proven", [each.is_proven for each in asked]),
    ]


def _of_hosts(corpus: Corpus, items: Sequence[KnownItem]) -> list[Row]:
    cells = Cells(corpus, HOST_BITS, by_host)
    asked = ask_all(corpus, cells, items, FEW)
    what, out = f"hosts in {cells.used} cells, {FEW.each} asked", list[Row]()
    for kind, goal in KINDS.items():
        of = [each for each in asked if each.kind == kind]
        hosts = [each.host for each in of]
        name = f"{what}: {kind} ({len(of)})"
        out.append(figure(f"{name}, recall@{BEST}", [each.recall for each in of], goal=goal, groups=hosts))
        out.append(figure(f"{name}, proven", [each.is_proven for each in of], groups=hosts))
    return out


def _of_slots(corpus: Corpus, cells: Cells, items: Sequence[KnownItem]) -> list[Row]:
    first, asked = ask_all(corpus, cells, items, FIRST), ask_all(corpus, cells, items, AS_A_NODE)
    what, out = f"slots, {cells.used} of {1 << cells.bits} used", list[Row]()
    for kind in KINDS:
        name = f"{what}: {kind}, recall@{BEST}"
        out.append(figure(f"{name} by {FIRST_SLOTS}", [each.recall for each in first if each.kind == kind]))
        out.append(figure(f"{name} by all waves", [each.recall for each in asked if each.kind == kind]))
    for is_rare, which in ((True, f"a word in at most {RARE_SLOTS} slots"), (False, "no such word")):
        of = [each for each in asked if each.is_rare is is_rare]
        if not of:
            continue
        name = f"{what}: {which} ({len(of)})"
        proven = [each.is_proven for each in first if each.is_rare is is_rare]
        out.append(figure(f"{name}, proven by {FIRST_SLOTS} slots", proven))
        goal = RARE_PROVEN if is_rare else None
        out.append(figure(f"{name}, proven", [each.is_proven for each in of], goal=goal))
        out.append(row(f"{name}, slots asked, mean", [fmean(each.slots for each in of)], ""))
        out.append(row(f"{name}, slots asked, p95", [quantiles([each.slots for each in of], n=20)[-1]], ""))
    for waves in (2, 3):
        out.append(figure(f"{what}: {waves} waves or more", [each.waves >= waves for each in asked]))
    out.append(row(f"{what}: choosing slots, CPU a query, mean", [fmean(each.cpu_ms for each in first)], "ms"))
    return out


def ask_all(corpus: Corpus, cells: Cells, items: Sequence[KnownItem], sizes: WaveSizes) -> list[Asked]:
    """Ask each query in waves of these sizes."""
    return [_ask(corpus, cells, item, sizes) for item in items]


def _ask(corpus: Corpus, cells: Cells, item: KnownItem, sizes: WaveSizes) -> Asked:
    query = parse_query(item.words)
    ranked = corpus.ranked(query)
    rows, began = cells.rows_of(query), time.thread_time()
    choice = SlotChoice(SlotBounds(query, ranked.statistics, cells.epoch, rows), sizes)
    wave, asked, waves = choice.first(), set[Slot](), 0
    cpu_ms = (time.thread_time() - began) * 1000
    exact = ranked.best(cells.among(range(1 << cells.bits)))
    last: float | None = None
    while wave:
        asked.update(wave)
        waves += 1
        best = ranked.best(cells.among(asked))
        last = best[-1].score if len(best) == BEST else None
        wave = choice.next(last, asked)
    verdict, is_rare = choice.verdict(last, asked), cells.slots_of(query) <= RARE_SLOTS
    if verdict.proven and best != exact:
        raise AssertionError(f"{item.words!r} is said to be proven and is not exact")
    return Asked(item.kind, item.host, _recall(best, exact), verdict.proven, len(asked), waves, is_rare, cpu_ms)


def _recall(best: Sequence[Found], exact: Sequence[Found]) -> float:
    return len({each.id for each in best} & {each.id for each in exact}) / len(exact) if exact else 1.0


def three_words(items: Sequence[KnownItem]) -> list[KnownItem]:
    """Return the kinds that are asked, of words of a text the first three."""
    out = []
    for each in items:
        if each.kind in KINDS:
            words = " ".join(each.words.split()[:BODY_WORDS]) if each.kind == "body" else each.words
            out.append(KnownItem(each.kind, words, each.targets, each.host))
    return out
