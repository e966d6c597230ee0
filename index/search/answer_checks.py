"""What a peer's answer must satisfy before anything in it is believed.

Pure: each function says what is wrong, or None. Before anything is shown, its signed document is read and `wrong_hit`
holds the peer to it; until then a peer is held to its own numbers: slots that were asked for, sums that add up, scores
that follow from the numbers beside them.
"""

import math
from collections.abc import Collection, Sequence
from itertools import pairwise

from dht import Slot, slot_of
from index.change_feed import Text
from index.engine.matcher import matches
from index.query.collection_statistics import Statistics
from index.query.parser import Query
from index.query.scoring import ScoreInputs, average_length, bm25, idfs, measure, proximity
from index.search.messages import AskBest, BestAnswer, HitRow, StatisticsAnswer
from index.text.forward_index import LIMITS, forward_of


def wrong_statistics(answer: StatisticsAnswer, asked: Collection[Slot], query: Query) -> str | None:
    """Say why this answer to AskStatistics cannot be true, None where it can."""
    if reason := _wrong_slots(answer.slots, asked):
        return reason
    count = len(answer.slots)
    rows: list[Sequence[object]] = [answer.documents, answer.lengths, answer.fingerprints, *answer.df]
    if len(answer.df) != len(query.leaves) or any(len(row) != count for row in rows):
        return "not one number for each slot and leaf"
    for documents, lengths in zip(answer.documents, answer.lengths, strict=True):
        if any(length > documents * most for length, most in zip(lengths, LIMITS, strict=True)):
            return "documents longer than the analyzer allows"
    for found in answer.df:
        if any(df > documents for df, documents in zip(found, answer.documents, strict=True)):
            return "a leaf in more documents than there are"
    return None


def wrong_best(answer: BestAnswer, ask: AskBest, query: Query) -> str | None:
    """Say why this answer to AskBest cannot be true, None where it can."""
    if reason := _wrong_slots(answer.slots, ask.slots):
        return reason
    if len(answer.counts) != len(answer.slots):
        return "not one count for each slot"
    if not math.isfinite(answer.bound) or answer.bound < 0 or (answer.complete and answer.bound != 0):
        return f"a bound of {answer.bound}"
    if len(answer.hits) > ask.k or len(answer.hits) > sum(answer.counts):
        return "more documents than asked for or counted"
    return _wrong_hits(answer, ask, query)


def wrong_hit(hit: HitRow, text: Text, query: Query) -> str | None:
    """Say why a peer's claim about this very version of a document is a lie, None where it is true."""
    forward = forward_of(text)
    if hit.key != text.key or hit.digest != forward.digest:
        return "another key or digest than the signed document's"
    if measure(forward, query) != ScoreInputs(hit.tfs, hit.lengths, hit.closeness):
        return "other numbers than the signed document's"
    return None if matches(query.root, text, forward) else "a document that does not match the query"


def _wrong_hits(answer: BestAnswer, ask: AskBest, query: Query) -> str | None:
    statistics = Statistics(ask.documents, ask.lengths, ask.df)
    idf, average = idfs(statistics), average_length(statistics)
    slots = frozenset(answer.slots)
    before: tuple[float, bytes] | None = None
    for hit in answer.hits:
        if slot_of(hit.key, ask.slot_bits) not in slots:
            return "a document of another slot"
        if reason := _wrong_numbers(hit, query):
            return reason
        if hit.score != bm25(hit.tfs, hit.lengths, idf, average) * proximity(hit.closeness):
            return "a score that does not follow from its numbers"
        order = (-hit.score, hit.id)
        if before is not None and before >= order:
            return "documents out of order or twice"
        before = order
    return None


def _wrong_numbers(hit: HitRow, query: Query) -> str | None:
    if len(hit.tfs) != len(query.leaves):
        return "not one count for each leaf"
    if any(length > most for length, most in zip(hit.lengths, LIMITS, strict=True)):
        return "a document longer than the analyzer allows"
    if any(tf > length for tfs in hit.tfs for tf, length in zip(tfs, hit.lengths, strict=True)):
        return "a leaf more often than there are words"
    return None


def _wrong_slots(slots: Sequence[int], asked: Collection[int]) -> str | None:
    if any(a >= b for a, b in pairwise(slots)):
        return "slots out of order or twice"
    return None if frozenset(slots) <= frozenset(asked) else "slots that were not asked for"
