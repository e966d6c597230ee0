from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.identity.puzzle import STEP_TRIES, solve, solve_all, work_of

KEY = bytes(range(32))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(min_size=32, max_size=32), st.integers(0, (1 << 64) - 1))
def test_work_is_the_leading_zero_bits_of_the_hash(key: bytes, nonce: int) -> None:
    digest = blake2b(key + nonce.to_bytes(8, "big"), digest_size=8, person=b"dse-node puzzle").digest()
    bits = f"{int.from_bytes(digest, 'big'):064b}"
    assert work_of(key, nonce) == len(bits) - len(bits.lstrip("0"))


@pytest.mark.parametrize("bits", range(13))
def test_the_least_nonce_that_will_do_is_found_whatever_the_steps(bits: int) -> None:
    found = solve_all(KEY, bits)
    assert found == next(n for n in range(1 << 20) if work_of(KEY, n) >= bits)
    assert solve(KEY, bits, found) == found
    assert solve(KEY, bits, 0, found) is None
    assert STEP_TRIES > 0


def test_another_key_needs_work_of_its_own() -> None:
    nonce = solve_all(KEY, 12)
    assert work_of(KEY[::-1], nonce) < 12
