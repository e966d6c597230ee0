"""Copies of a slot that are behind each other for a moment are no lie; numbers that no such copies have are."""

import pytest

from index.asking.answer_audit import SlotStatistics, can_both_be_true
from index.query.collection_statistics import Statistics


def said(documents: int, terms: int, fingerprint: bytes = b"") -> SlotStatistics:
    """Statistics of a slot with so many documents, and so many terms in their texts."""
    lengths = (8 * documents, 20 * documents, 10 * documents, terms)
    return SlotStatistics(fingerprint or terms.to_bytes(4, "big"), Statistics(documents, lengths, (documents // 2,)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (said(61, 68_256), said(0, 0)),
        (said(17, 6_067), said(0, 0)),
        (said(1, 330), said(2, 4_200)),
        (said(2, 400), said(2, 7_000)),
        (said(1_000, 400_000), said(1_900, 900_000)),
    ],
)
def test_what_one_copy_has_more_explains_how_long_its_documents_are(one: SlotStatistics, other: SlotStatistics) -> None:
    assert can_both_be_true(one, other) and can_both_be_true(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (said(5, 2_000), said(5, 5 * 65_535)),
        (said(1_000, 400_000), said(1_000, 4_000_000)),
        (said(1_000, 400_000), said(1_064, 8_000_000)),
        (said(61, 68_256), said(300, 68_256)),
        (said(5, 2_000, b"same"), said(5, 2_001, b"same")),
    ],
)
def test_other_numbers_are_a_lie_of_one_of_them(one: SlotStatistics, other: SlotStatistics) -> None:
    assert not can_both_be_true(one, other) and not can_both_be_true(other, one)
