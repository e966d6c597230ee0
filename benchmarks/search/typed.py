"""Types the queries of judged sets as people wrote them, beside other engines on the same data."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.figures import Row, row
from benchmarks.search.baselines import baselines, missing
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out
from benchmarks.search.goals import (
    BETTER_BASELINES,
    CMRC_HIT1,
    OR_NDCG,
    SIGNIFICANCE,
    TYPED_LOSS,
    TYPED_MEAN,
    UNANSWERED,
)
from benchmarks.search.judged_sets import JudgedSet, as_texts, read_set, set_folders
from benchmarks.search.measures import hit, ndcg, unjudged
from benchmarks.search.one_node import one_node
from benchmarks.search.plain_terms import plain_terms
from benchmarks.search.resampling import holm, p_value

CHINESE = "cmrc2018-zh"
NAMED = 3  # of the baselines that are better
Order = Sequence[str]  # names of documents, the best first


@dataclass(frozen=True, slots=True)
class Typed:
    """Holds what came of one set: orders by query in the order of its queries, ours and by name of a baseline."""

    asked: JudgedSet
    ours: Sequence[Order]
    theirs: Mapping[str, Sequence[Order]]

    def ndcg(self, orders: Sequence[Order]) -> list[float]:
        """Return the nDCG@10 of each query."""
        return [ndcg(got, self.asked.grades[name]) for name, got in zip(self.asked.queries, orders, strict=True)]

    def hits(self, orders: Sequence[Order]) -> list[float]:
        """Return for each query whether the first result is relevant."""
        return [hit(got, self.asked.grades[name]) for name, got in zip(self.asked.queries, orders, strict=True)]


def rows(extent: Extent) -> list[Row]:
    """Return the rows of all judged sets that were given."""
    if extent.judged is None:
        return [left_out("typed queries", "needs --judged DIR")]
    found = [asyncio.run(ask_set(read_set(path, extent.most(1 << 30)), extent)) for path in set_folders(extent.judged)]
    out = [each for typed in found for each in set_rows(typed)]
    means = {each.asked.name: fmean(each.ndcg(each.ours)) for each in found}
    if OR_NDCG.keys() <= means.keys():
        mean = fmean(means[name] for name in OR_NDCG)
        out.append(row("nDCG@10, mean of the English sets", [mean], "", goal=TYPED_MEAN, at_least=True))
    out += [left_out(f"beside {name}", "not installed") for name in missing()]
    return [*out, better_baselines([each for each in found if each.asked.name != CHINESE])]


async def ask_set(asked: JudgedSet, extent: Extent) -> Typed:
    """Ask all queries of a set of a node, and of each baseline."""
    names = list(asked.documents)
    async with one_node(as_texts(asked.documents), extent.engine) as node:
        ours = [[names[place] for place in await node.places(text)] for text in asked.queries.values()]
    theirs = {
        name: [[names[place] for place in rank(plain_terms(text))] for text in asked.queries.values()]
        for name, rank in baselines([plain_terms(text) for text in asked.documents.values()]).items()
    }
    return Typed(asked, ours, theirs)


def set_rows(typed: Typed) -> list[Row]:
    """Return the rows of one set."""
    name, grades = typed.asked.name, typed.asked.grades
    chinese, english = name == CHINESE, name in OR_NDCG
    empty = [float(not got) for got in typed.ours]
    new = [unjudged(got, grades[query]) for query, got in zip(typed.asked.queries, typed.ours, strict=True)]
    least = OR_NDCG[name] - TYPED_LOSS if english else None
    best = max((fmean(typed.ndcg(orders)) for orders in typed.theirs.values()), default=None)
    first = max((fmean(typed.hits(orders)) for orders in typed.theirs.values()), default=None)
    out = [figure(f"{name}: nDCG@10 beside the best baseline", typed.ndcg(typed.ours), goal=least, peer=best)]
    out += [
        figure(f"{name}: nDCG@10 beside {other}", typed.ndcg(typed.ours), peer=fmean(typed.ndcg(orders)))
        for other, orders in typed.theirs.items()
    ]
    goal = CMRC_HIT1 if chinese else None
    out.append(figure(f"{name}: hit@1", typed.hits(typed.ours), goal=goal, peer=first))
    out.append(figure(f"{name}: without an answer", empty, goal=UNANSWERED if english else None, at_least=False))
    out.append(figure(f"{name}: unjudged@10", new))
    return out


def better_baselines(found: Sequence[Typed]) -> Row:
    """Return how many pairs of a set and a baseline there are in which the baseline is better beyond chance."""
    pairs = [(typed, other) for typed in found for other in typed.theirs]
    ours = [typed.ndcg(typed.ours) for typed, _ in pairs]
    theirs = [typed.ndcg(typed.theirs[other]) for typed, other in pairs]
    found_p = [p_value(a, b) for a, b in zip(ours, theirs, strict=True)]
    better = [
        f"{other} on {typed.asked.name} (p = {p:.2g})"
        for (typed, other), a, b, p, sure in zip(pairs, ours, theirs, found_p, holm(found_p, SIGNIFICANCE), strict=True)
        if sure and fmean(b) > fmean(a)
    ]
    what = f"baselines significantly better, of {len(pairs)} (randomisation, Holm)"
    return row(what, [float(len(better))], "", goal=BETTER_BASELINES, peer=", ".join(better[:NAMED]) or None)
