"""Portions: everything once and in order, in few different sizes."""

from hypothesis import given
from hypothesis import strategies as st

from store.catalog.sql_batches import AT_ONCE, portions


@given(st.lists(st.integers(), max_size=300))
def test_everything_comes_once_in_few_sizes(wanted: list[int]) -> None:
    found = list(portions(wanted))
    assert [n for part in found for n in part if n is not None] == wanted
    assert {len(part) for part in found} <= {1 << n for n in range(AT_ONCE.bit_length())}
