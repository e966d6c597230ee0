"""What a slot gives is bounded by its documents and by what others give to it."""

import numpy as np

from index.rank.ledger import allowed_flows

ALPHA = 0.85


def test_honest_claims_count_in_full() -> None:
    """Slot 0 has 10 documents, all of whose links lead to slot 1; slot 1 gives back what it may."""
    first = ALPHA * 0.15 * 10
    claims = np.array([[0, first], [ALPHA * first, 0]])
    assert np.allclose(allowed_flows(claims, np.array([10.0, 0.0])), claims)


def test_a_slot_that_claims_too_much_is_scaled_down_as_a_whole() -> None:
    claims = np.array([[0, 3e6, 1e6], [0, 0, 0], [0, 0, 0]])
    found = allowed_flows(claims, np.array([100.0, 100.0, 100.0]))
    assert np.allclose(found[0], [0, 0.75 * ALPHA * 15, 0.25 * ALPHA * 15])


def test_a_ring_of_liars_has_no_more_than_a_ring_of_pages() -> None:
    claims = np.array([[0, 1e9, 0], [1e9, 0, 1e9], [0, 0, 0]])
    found = allowed_flows(claims, np.array([100.0, 100.0, 100.0]))
    assert found.sum() <= ALPHA * 200 + 1e-6


def test_claims_that_are_no_amounts_count_as_none() -> None:
    claims = np.array([[0.0, np.nan], [-5.0, 0.0]])
    assert np.array_equal(allowed_flows(claims, np.array([1.0, 1.0])), np.zeros((2, 2)))
    assert not allowed_flows(np.array([[0.0, 3.0], [0.0, 0.0]]), np.zeros(2)).any()
