"""Checks that a peer's answer must pass before anything in it is believed.

Pure: each function says what is wrong, or None. Before a hit is shown, its signed document is read and `wrong_hit`
compares the peer's answer with it. Until then the answer must be consistent: slots that were asked for, sums that add
up, scores that follow from the numbers beside them.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise, repeat
from operator import gt, mul

from dht import Slot, slot_of
from index.change_feed import Text
from index.engine.matcher import matches
from index.engine.protocol import FACETS
from index.query.collection_statistics import Statistics
from index.query.parser import Query
from index.query.scoring import Scorer, measure
from index.query.search_rules import NEWEST_RULES, SearchRules
from index.shard.messages import AskBest, BestAnswer, HitRow, SlotSums, StatisticsAnswer
from index.text.forward_index import ForwardRecord, content_digest, signature_of
from index.text.site_host import digest_of_host, host_of


def wrong_statistics(
    answer: StatisticsAnswer, asked: Collection[Slot], counted: int, unsure: int = 0, rules: SearchRules = NEWEST_RULES
) -> str | None:
    """Say why this answer to AskStatistics cannot be true, None where it can. `counted`: leaves and probes; `unsure`:
    words for which it may propose others."""
    if reason := _wrong_slots(answer.slots, asked):
        return reason
    count = len(answer.slots)
    rows: list[Sequence[object]] = [
        answer.documents,
        answer.lengths,
        answer.fingerprints,
        *answer.df,
    ]
    if len(answer.likely) != unsure:
        return "not one list for each unsure word"
    if len(answer.df) != counted or any(len(row) != count for row in rows):
        return "not one number for each slot and leaf"
    limits = rules.analyzer.limits
    for lengths, most in zip(zip(*answer.lengths, strict=True), limits, strict=False):  # no field where no slot is
        if any(map(gt, lengths, map(mul, answer.documents, repeat(most)))):
            return "documents longer than the analyzer allows"
    for found in answer.df:
        if any(map(gt, found, answer.documents)):
            return "a leaf in more documents than there are"
    if any(len(dict(words)) < len(words) for words in answer.words):
        return "a word twice"
    if any(number > sum(answer.documents) for words in answer.words for _, number in words):
        return "a word in more documents than there are"
    return None


def wrong_best(answer: BestAnswer, ask: AskBest, query: Query, counted: int = 0) -> str | None:
    """Say why this answer to AskBest cannot be true, None where it can. `counted`: leaves and probes of which it brings
    sums, where these are asked for."""
    if reason := _wrong_slots(answer.slots, ask.slots):
        return reason
    if len(answer.counts) != len(answer.slots):
        return "not one count for each slot"
    if not math.isfinite(answer.bound) or answer.bound < 0 or (answer.complete and answer.bound != 0):
        return f"a bound of {answer.bound}"
    if len(answer.hits) > ask.k:
        return "more documents than asked for"
    if ask.per_host and max(Counter(hit.host for hit in answer.hits).values(), default=0) > ask.per_host:
        return "more documents of a host than asked for"
    if len(answer.facets) != (len(FACETS) if ask.facets else 0):
        return "not one list for each facet"
    if any(len(dict(each)) < len(each) for each in answer.facets):
        return "a name twice"
    if (answer.sums is not None) != ask.sums:
        return "sums that were not asked for, or none"
    return (answer.sums and _wrong_sums(answer.sums, query, counted)) or _wrong_hits(answer, ask, query)


def wrong_hit(hit: HitRow, text: Text, forward: ForwardRecord, query: Query) -> str | None:
    """Say why a peer's claim about this very version of a document is a lie, None where it is true. `forward` is its
    forward record."""
    if reason := _unlike(hit, text, forward.digest, forward.host, forward.signature):
        return reason
    if query.is_by_date and hit.day != forward.day:
        return "another day than the signed document's"
    if measure(forward, query) != hit.numbers:
        return "other numbers than the signed document's"
    return None if matches(query.root, text, forward) else "a document that does not match the query"


def wrong_marks(hit: HitRow, text: Text) -> str | None:
    """Say why a peer cannot have the key, digest, host, signature or first day of this very version of a document
    right."""
    return _unlike(hit, text, content_digest(text), digest_of_host(host_of(text.url)), signature_of(text))


def _unlike(hit: HitRow, text: Text, digest: bytes, host: bytes, signature: bytes) -> str | None:
    if hit.first_seen != text.first_seen:
        return "another first day than the signed document's"
    if hit.key != text.key or hit.digest != digest:
        return "another key or digest than the signed document's"
    if hit.host != host or hit.signature != signature:
        return "another host or signature than the signed document's"
    return None


def _wrong_hits(answer: BestAnswer, ask: AskBest, query: Query) -> str | None:
    statistics = Statistics(ask.documents, ask.lengths, ask.df)
    scorer = Scorer(query, statistics)
    slots = frozenset(answer.slots)
    before: tuple[int, float, bytes] | None = None
    for hit in answer.hits:
        if slot_of(hit.key, ask.slot_bits) not in slots:
            return "a document of another slot"
        if reason := _wrong_numbers(hit, query):
            return reason
        if hit.day and not ask.by_date:
            return "a day that was not asked for"
        if hit.score != scorer.score(hit.numbers):
            return "a score that does not follow from its numbers"
        if before is not None and before >= hit.place:
            return "documents out of order or twice"
        before = hit.place
    return None


def _wrong_sums(sums: SlotSums, query: Query, counted: int) -> str | None:
    if len(sums.df) != counted:
        return "not one sum for each leaf and probe"
    if any(map(gt, sums.lengths, map(mul, repeat(sums.documents), query.rules.analyzer.limits))):
        return "documents longer than the analyzer allows"
    if max(sums.df, default=0) > sums.documents:
        return "a leaf in more documents than there are"
    return None


def _wrong_numbers(hit: HitRow, query: Query) -> str | None:
    if len(hit.tfs) != len(query.leaves):
        return "not one count for each leaf"
    if any(length > most for length, most in zip(hit.lengths, query.rules.analyzer.limits, strict=True)):
        return "a document longer than the analyzer allows"
    if any(tf > length for tfs in hit.tfs for tf, length in zip(tfs, hit.lengths, strict=True)):
        return "a leaf more often than there are words"
    return None


def _wrong_slots(slots: Sequence[int], asked: Collection[int]) -> str | None:
    if slots == asked:  # ascending tuples both, mostly
        return None
    if any(a >= b for a, b in pairwise(slots)):
        return "slots out of order or twice"
    return None if frozenset(slots) <= frozenset(asked) else "slots that were not asked for"
