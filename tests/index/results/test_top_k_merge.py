"""Merging and cursors."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht import NodeId
from index.errors import QueryError
from index.results.page_cursor import PageCursor, query_digest, read_cursor, write_cursor
from index.results.top_k_merge import merge
from index.shard.messages import HitRow


def hit(number: int, score: float, digest: int) -> HitRow:
    return HitRow(
        bytes([number]) * 20, bytes(20), bytes(32), bytes([digest]) * 16, score, (), (0, 0, 0, 0), 0, bytes(8), b""
    )


HITS = st.lists(
    st.builds(hit, st.integers(0, 40), st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.integers(0, 9)), max_size=30
)


@settings(max_examples=200, deadline=None)
@given(st.lists(HITS, max_size=4), st.integers(1, 20), st.integers(0, 99))
def test_merging_is_sorting_everything(peers: list[list[HitRow]], k: int, seed: int) -> None:
    answers = [(NodeId(bytes([number]) * 20), hits) for number, hits in enumerate(peers)]
    order = merge(answers, k)
    random.Random(seed).shuffle(answers)
    assert [found.hit for found in merge(answers, k)] == [found.hit for found in order]
    ids = {each.id for hits in peers for each in hits}
    assert len(order) == min(k, len(ids))
    best = {id_: max(each.score for hits in peers for each in hits if each.id == id_) for id_ in ids}
    assert [(f.hit.id, f.hit.score) for f in order] == sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


def test_a_cursor_comes_back_and_belongs_to_its_query() -> None:
    digest = query_digest("q", "en", "")
    cursor = PageCursor(digest, bytes(range(20)), 10, b"s" * 8)
    assert read_cursor(write_cursor(cursor), digest) == cursor
    assert read_cursor("", digest) is None
    assert write_cursor(cursor).isascii()
    with pytest.raises(QueryError, match="another query"):
        read_cursor(write_cursor(cursor), query_digest("q", "", "en"))
    with pytest.raises(QueryError, match="another query"):
        read_cursor(write_cursor(cursor), query_digest("q", "en", "", asker_language="de"))


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1, max_size=80) | st.binary(min_size=1, max_size=60).map(lambda raw: raw.hex()))
def test_a_damaged_cursor_is_the_askers_error(text: str) -> None:
    with pytest.raises(QueryError):
        read_cursor(text, bytes(8))
