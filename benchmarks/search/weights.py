"""Tries other weights of the ranking, and tells what each collection gains by those that all others would choose.

`python -m benchmarks.search.weights --judged DIR --web DIR`. Collections are the judged sets, and of each fold of hosts
the known items and site names. The best documents of each query are scored again: what stands lower than DEEP by
today's weights hardly comes among the first ten. Weights are chosen one after the other by the mean over some
collections. Gains of a collection by the choice of all others are no accident; gains only by its own choice may be.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import fmean
from zlib import crc32

from benchmarks.figures import Row, row, show
from benchmarks.search.judged_sets import as_texts, read_set, set_folders
from benchmarks.search.known_items import FOLDS, MOST
from benchmarks.search.known_rules import known_items
from benchmarks.search.measures import DEPTH, hit, ndcg, reciprocal_rank
from benchmarks.search.quiet_network import ME
from benchmarks.search.site_names import site_names
from benchmarks.search.typed import CHINESE
from benchmarks.search.web_pages import read_web
from dht import Slot
from index import NEWEST_RULES, DocumentChange, IndexConfig, Text
from index.engine.index_files import IndexFiles
from index.query.collection_statistics import Statistics, total
from index.query.parser import Query, parse_query
from index.query.ranking_rules import NEWEST_RANKING, RankingRules
from index.query.scoring import Scorer
from index.query.search_rules import SearchRules
from index.results.result_picker import pick
from index.results.top_k_merge import MergedHit
from index.shard.messages import HitRow
from index.shard.shard_search import ShardSearch, count
from index.text.field_terms import TITLE, URL

DEEP = 50  # documents of a query that are scored again
MAX_CHINESE = 300  # questions
SLOT_BITS, SLOTS = 4, tuple(map(Slot, range(16)))
OPTIONS = {  # of each weight, today's first; of proximity and shares of fields, how many times today's
    "proximity": (1.0, 0.5, 1.5, 2.0),
    "cover_fade": (20, 12, 16, 30),
    "title": (1.0, 0.7, 1.3),
    "address": (1.0, 0.0, 0.5, 1.5),
    "front_share": (0.5, 0.3, 0.7),
    "asking_share": (0.125, 0.25, 0.5, 1.0),
    "grammar_share": (0.5, 0.25, 1.0),
    "other_script": (0.85, 0.7, 0.95),
}
TODAY = tuple(options[0] for options in OPTIONS.values())

Choice = tuple[float, ...]  # one option of each weight
Judgement = Mapping[bytes, int]  # grades by document


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, its best documents by today's weights, and how an order of them is judged."""

    measure: str  # "nDCG", "hit@1" or "MRR"
    query: Query
    statistics: Statistics
    hits: Sequence[HitRow]
    judged: Judgement

    def value(self, rules: RankingRules) -> float:
        """Return how good the order by other weights is."""
        query = replace(self.query, rules=SearchRules(NEWEST_RULES.analyzer, rules))
        scorer = Scorer(query, self.statistics)
        scored = sorted((-scorer.score(each.numbers), each.id, each) for each in self.hits)
        shown = pick([MergedHit(each, ME) for _, _, each in scored], lambda *_: True, DEPTH)
        got = [each.found.hit.id for each in shown]
        if self.measure == "MRR":
            return reciprocal_rank(got, self.judged)
        return ndcg(got, self.judged) if self.measure == "nDCG" else hit(got, self.judged)


class Trial:
    """Judges weights by collections, each choice once."""

    def __init__(self, collections: Mapping[str, Sequence[Asked]]) -> None:
        self._collections = collections
        self._known: dict[tuple[Choice, str], float] = {}

    def figure(self, choice: Choice, *names: str) -> float:
        """Return the mean of these collections, or of all."""
        return fmean(self._figure(choice, name) for name in names or self._collections)

    def _figure(self, choice: Choice, name: str) -> float:
        if (choice, name) not in self._known:
            rules = rules_by(choice)
            self._known[choice, name] = fmean(each.value(rules) for each in self._collections[name])
        return self._known[choice, name]

    def chosen_by(self, names: Sequence[str]) -> Choice:
        """Choose the weights one after the other, each by the mean over these collections."""
        choice = TODAY
        for number, options in enumerate(OPTIONS.values()):
            tried = [(*choice[:number], option, *choice[number + 1 :]) for option in options]
            choice = max(tried, key=lambda each: self.figure(each, *names))
        return choice

    def rows(self) -> Iterator[Row]:
        """Yield what each option gives all, and what each collection has now, by the others' choice and by its own."""
        now, names = self.figure(TODAY), list(self._collections)
        yield row("mean of all collections", [now], "")
        for number, (weight, options) in enumerate(OPTIONS.items()):
            for option in options[1:]:
                found = self.figure((*TODAY[:number], option, *TODAY[number + 1 :]))
                yield row(f"  {weight} {option:g}", [found], "", peer=[now])
        for name in names:
            others, own = self.chosen_by([each for each in names if each != name]), self.chosen_by([name])
            here = [self.figure(TODAY, name)]
            yield row(f"{name}, by the choice of all others", [self.figure(others, name)], "", peer=here)
            yield row(f"{name}, by its own choice", [self.figure(own, name)], "", peer=here)


def rules_by(choice: Choice) -> RankingRules:
    """Return the ranking with these weights."""
    said = dict(zip(OPTIONS, choice, strict=True))
    near, title, address, cover_fade = said["proximity"], said["title"], said["address"], int(said["cover_fade"])
    of_field = {TITLE: title, URL: address}
    return replace(
        NEWEST_RANKING,
        proximity=tuple(1 + (most - 1) * near for most in NEWEST_RANKING.proximity),
        cover_fade=cover_fade,
        classes=tuple(replace(each, share=each.share * of_field[each.field]) for each in NEWEST_RANKING.classes),
        **{name: said[name] for name in ("front_share", "asking_share", "grammar_share", "other_script")},
    )


def asked_of(texts: Sequence[Text], queries: Sequence[tuple[str, str, Judgement]]) -> Iterator[Asked]:
    """Yield each query, given how it is judged, as words, and by what, with its best documents."""
    files = IndexFiles(IndexConfig(), None)
    files.apply([DocumentChange(text.id, text) for text in texts], b"")
    for measure, words, judged in queries:
        query = parse_query(words)
        said = count(files, query.leaves, SLOTS, SLOT_BITS)
        parts = zip(said.documents, said.lengths, *said.df, strict=True)
        sums = total((Statistics(each[0], each[1], each[2:]) for each in parts), len(query.leaves))
        hits = ShardSearch(files, query, sums, SLOTS, SLOT_BITS, len(texts)).answer(DEEP).hits
        yield Asked(measure, query, sums, hits, judged)
    files.close()


def judged_sets(folder: Path) -> Iterator[tuple[str, list[Asked]]]:
    """Yield the judged sets by name."""
    for path in set_folders(folder):
        found = read_set(path, MAX_CHINESE if path.name == CHINESE else 1 << 30)
        texts = as_texts(found.documents)
        ids = {name: bytes(text.id) for name, text in zip(found.documents, texts, strict=True)}
        measure = "hit@1" if path.name == CHINESE else "nDCG"
        grades = [{ids.get(each, each.encode()): n for each, n in found.grades[name].items()} for name in found.queries]
        words = zip([measure] * len(grades), found.queries.values(), grades, strict=True)
        yield path.name, list(asked_of(texts, list(words)))


def web(folder: Path) -> Iterator[tuple[str, list[Asked]]]:
    """Yield the known items and site names of each fold of hosts."""
    pages = read_web(folder)
    items = [(item.host, item.words, item.targets) for item in known_items(pages, Random(1), MOST)]
    items += [(pages[min(places)].host, name, places) for name, places in sorted(site_names(pages).items())]
    queries = [("MRR", words, {bytes(pages[place].text.id): 1 for place in places}) for _, words, places in items]
    found = list(asked_of([page.text for page in pages], queries))
    for fold in range(FOLDS):
        of = [number for number, (host, *_) in enumerate(items) if crc32(host.encode()) % FOLDS == fold]
        yield f"web {fold + 1}", [found[number] for number in of]


def main() -> int:
    """Run the trial."""
    parser = argparse.ArgumentParser(description="what other weights of the ranking would give")
    parser.add_argument("--judged", type=Path, metavar="DIR", required=True, help="folder of judged sets")
    parser.add_argument("--web", type=Path, metavar="DIR", required=True, help="one subfolder of pages per host")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    chosen = parser.parse_args()
    trial = Trial({**dict(judged_sets(chosen.judged)), **dict(web(chosen.web))})
    show("weights", list(trial.rows()), (), as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
