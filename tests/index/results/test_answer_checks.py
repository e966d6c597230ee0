"""Each lie in a peer's answer is enough to refuse it, and the honest answer passes."""

from random import Random
from typing import Any

import index_corpus as corpus
import msgspec
import pytest

from dht import Slot, slot_of
from index.query.collection_statistics import Statistics
from index.query.parser import parse_query
from index.query.scoring import measure, score
from index.results.answer_checks import wrong_best, wrong_hit, wrong_statistics
from index.shard.messages import AskBest, BestAnswer, HitRow, StatisticsAnswer
from index.text.forward_index import content_digest, forward_of

BITS = 2
QUERY = parse_query("run dogs")
SUMS = Statistics(50, (100, 50, 200, 900), (20, 10))


def hit_of(text: Any) -> HitRow:
    forward = forward_of(text)
    scored = score(forward, QUERY, SUMS)
    numbers = scored.numbers.tfs, scored.numbers.lengths, scored.numbers.closeness
    digest = content_digest(text)
    traits = forward.is_front, scored.numbers.foreign, scored.numbers.is_obscure
    marks = forward.host, forward.signature, 0, *traits, forward.first_seen, forward.title_numbers
    return HitRow(text.id, text.key, text.version, digest, scored.score, *numbers, *marks)


TEXTS = [
    text
    for text in corpus.web(Random(4), 60)
    if slot_of(text.key, BITS) != 0 and all(map(any, measure(forward_of(text), QUERY).tfs))
]
HITS = tuple(sorted(map(hit_of, TEXTS), key=lambda hit: (-hit.score, hit.id)))
ASK = AskBest(1, 1, BITS, (1, 2, 3), "run dogs", SUMS.documents, SUMS.lengths, SUMS.df, 50, 100, per_host=len(HITS) - 1)
BEST = BestAnswer((1, 2, 3), (20, 20, 20), HITS, False, 0.1)
COUNTED = StatisticsAnswer((1, 3), (4, 0), ((9, 0, 8, 99), (0, 0, 0, 0)), (bytes(32),) * 2, ((4, 0), (1, 0)))


def first(**changes: Any) -> BestAnswer:
    return msgspec.structs.replace(BEST, hits=(msgspec.structs.replace(HITS[0], **changes), *HITS[1:]))


def test_the_honest_answers_pass() -> None:
    assert len(HITS) > 3
    assert wrong_best(BEST, ASK, QUERY) is None
    assert wrong_statistics(COUNTED, [Slot(1), Slot(2), Slot(3)], 2) is None
    assert all(wrong_hit(hit_of(text), text, forward_of(text), QUERY) is None for text in TEXTS)


@pytest.mark.parametrize(
    "answer",
    [
        msgspec.structs.replace(BEST, slots=(1, 2, 2)),
        msgspec.structs.replace(BEST, slots=(0, 1, 2)),
        msgspec.structs.replace(BEST, counts=(20, 20)),
        msgspec.structs.replace(BEST, hits=HITS[::-1]),
        msgspec.structs.replace(BEST, hits=(HITS[0], *HITS)),
        msgspec.structs.replace(BEST, hits=HITS * 20),
        msgspec.structs.replace(BEST, bound=float("nan")),
        msgspec.structs.replace(BEST, bound=float("inf")),
        msgspec.structs.replace(BEST, bound=-1.0),
        msgspec.structs.replace(BEST, complete=True, bound=1.0),
        msgspec.structs.replace(BEST, slots=(2, 3), counts=(20, 20)),
        msgspec.structs.replace(BEST, hits=tuple(msgspec.structs.replace(hit, host=bytes(8)) for hit in HITS)),
        first(key=bytes(20)),
        first(score=99.0),
        first(score=float("nan")),
        first(closeness=HITS[0].closeness ^ 512),
        first(foreign=HITS[0].foreign + 1),
        first(tfs=HITS[0].tfs[:1]),
        first(tfs=((1, 0, 1, 1),) * 2, is_front=not HITS[0].is_front),
        first(tfs=((65, 0, 0, 0),) * 2),
        first(lengths=(65, 0, 0, 0)),
    ],
)
def test_each_lie_about_the_best_is_seen(answer: BestAnswer) -> None:
    assert wrong_best(answer, ASK, QUERY)


@pytest.mark.parametrize(
    "changes",
    [
        {"slots": (3, 1)},
        {"slots": (0, 1)},
        {"documents": (4,)},
        {"documents": (3, 0)},
        {"df": ((4, 0),)},
        {"df": ((4, 1), (1, 0))},
        {"lengths": ((9, 0, 8, 99_999), (0, 0, 0, 0))},
        {"fingerprints": ()},
    ],
)
def test_each_lie_about_counts_is_seen(changes: dict[str, Any]) -> None:
    assert wrong_statistics(msgspec.structs.replace(COUNTED, **changes), [Slot(1), Slot(2), Slot(3)], 2)


def test_the_signed_document_has_the_last_word() -> None:
    hit, text = hit_of(TEXTS[0]), TEXTS[0]
    for changes in (
        {"closeness": hit.closeness ^ 1},
        {"is_front": not hit.is_front},
        {"foreign": hit.foreign + 1},
        {"digest": bytes(16)},
        {"key": bytes(20)},
        {"host": bytes(8)},
        {"signature": b"x" * 16},
        {"title_numbers": 7},
        {"lengths": (9, 9, 9, 9)},
        {"is_obscure": not hit.is_obscure},
        {"first_seen": hit.first_seen ^ 1},
    ):
        assert wrong_hit(msgspec.structs.replace(hit, **changes), text, forward_of(text), QUERY)
    assert wrong_hit(hit, text, forward_of(text), parse_query("run dogs -dogs"))
