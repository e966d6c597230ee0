"""Asks the slots that the directory names, of real pages, and compares with the exact answer."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, median, quantiles

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
from index.directory.slot_choice import FIRST_SLOTS, SlotChoice
from index.directory.term_row import MOST_SLOTS
from index.query.parser import parse_query

MOST = 200  # queries of a kind
FEW = 8  # of 64 cells
PAGES_A_SLOT = 8
SIZED_PAGES = 250  # of larger webs the rows of fewer terms are counted, those of the least hashes
WAVE = 16  # slots at a time, after the first
KINDS = {"title": KNOWN_RECALL, "anchor": KNOWN_RECALL, "body": BODY_RECALL}
BODY_WORDS = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of one query. `recall`: the share of the exact best ten that was found; `slots`: asked until it was
    proven; `is_rare`: a word of it is in few enough slots for a row to name all."""

    kind: str
    host: str
    recall: float
    is_proven: bool
    slots: int
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
    asked = ask_all(corpus, Cells(corpus, HOST_BITS, by_host), items, FEW, FEW)
    what = f"{name}, {len(corpus.texts):,} documents by chance in 64 cells, {FEW} asked"
    return [
        figure(f"{what}: recall@{BEST}", [each.recall for each in asked]),
        figure(f"{what}: proven", [each.is_proven for each in asked]),
    ]


def _of_hosts(corpus: Corpus, items: Sequence[KnownItem]) -> list[Row]:
    cells = Cells(corpus, HOST_BITS, by_host)
    asked = ask_all(corpus, cells, items, FEW, FEW)
    what, out = f"hosts in {cells.used} cells, {FEW} asked", list[Row]()
    for kind, goal in KINDS.items():
        of = [each for each in asked if each.kind == kind]
        hosts = [each.host for each in of]
        name = f"{what}: {kind} ({len(of)})"
        out.append(figure(f"{name}, recall@{BEST}", [each.recall for each in of], goal=goal, groups=hosts))
        out.append(figure(f"{name}, proven", [each.is_proven for each in of], groups=hosts))
    return out


def _of_slots(corpus: Corpus, cells: Cells, items: Sequence[KnownItem]) -> list[Row]:
    first = ask_all(corpus, cells, items, FIRST_SLOTS, FIRST_SLOTS)
    until = ask_all(corpus, cells, items, FIRST_SLOTS, 1 << cells.bits)
    what, out = f"slots, {cells.used} of {1 << cells.bits} used", list[Row]()
    for kind in KINDS:
        of = [each for each in first if each.kind == kind]
        name = f"{what}, {FIRST_SLOTS} asked: {kind} ({len(of)})"
        out.append(figure(f"{name}, recall@{BEST}", [each.recall for each in of]))
    for is_rare, which in ((True, f"a word in at most {MOST_SLOTS} slots"), (False, "no such word")):
        of = [each for each in first if each.is_rare is is_rare]
        needed = [each.slots for each in until if each.is_rare is is_rare]
        if not of:
            continue
        goal = RARE_PROVEN if is_rare else None
        name = f"{what}: {which} ({len(of)})"
        out.append(figure(f"{name}, proven by {FIRST_SLOTS} slots", [each.is_proven for each in of]))
        by_64 = [float(each <= MOST_SLOTS) for each in needed]
        out.append(figure(f"{name}, proven by {MOST_SLOTS} slots", by_64, goal=goal))
        out.append(row(f"{name}, slots until proven, median", [median(needed)], ""))
        out.append(row(f"{name}, slots until proven, p95", [quantiles(needed, n=20)[-1]], ""))
    out.append(row(f"{what}: choosing slots, CPU a query, mean", [fmean(each.cpu_ms for each in first)], "ms"))
    return out


def ask_all(corpus: Corpus, cells: Cells, items: Sequence[KnownItem], first: int, most: int) -> list[Asked]:
    """Ask each query: a first wave, and further ones until it is proven or so many slots were asked."""
    return [_ask(corpus, cells, item, first, most) for item in items]


def _ask(corpus: Corpus, cells: Cells, item: KnownItem, first: int, most: int) -> Asked:
    query = parse_query(item.words)
    ranked = corpus.ranked(query)
    rows, began = cells.rows_of(query), time.thread_time()
    choice = SlotChoice(SlotBounds(query, ranked.statistics, cells.epoch, rows))
    wave, asked = choice.first(first), set[Slot]()
    cpu_ms = (time.thread_time() - began) * 1000
    exact = ranked.best(cells.among(range(1 << cells.bits)))
    while True:
        asked.update(wave)
        best = ranked.best(cells.among(asked))
        last = best[-1].score if len(best) == BEST else None
        wave = choice.next(last, asked, min(WAVE, most - len(asked)))
        if not wave:
            break
    verdict, is_rare = choice.verdict(last, asked), cells.slots_of(query) <= MOST_SLOTS
    if verdict.proven and best != exact:
        raise AssertionError(f"{item.words!r} is said to be proven and is not exact")
    return Asked(item.kind, item.host, _recall(best, exact), verdict.proven, len(asked), is_rare, cpu_ms)


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
