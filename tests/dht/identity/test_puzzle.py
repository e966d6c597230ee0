""""""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.identity.puzzle import STEP_TRIES, solve, solve_all, work_of
from dht.identity.puzzle_solver import PuzzleFile, PuzzleSolver

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


def test_what_was_solved_is_there_at_the_next_start(tmp_path: Path) -> None:
    PuzzleFile(tmp_path / "identity.puzzle").save((1 << 64) - 1)
    assert PuzzleFile(tmp_path / "identity.puzzle").load() == (1 << 64) - 1


@pytest.mark.parametrize("text", ["", "x", "-1", str(1 << 64), "é"])
def test_a_damaged_file_costs_solving_again_and_no_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "identity.puzzle").write_text(text)
    assert PuzzleFile(tmp_path / "identity.puzzle").load() == 0


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    PuzzleFile(None).save(7)
    assert PuzzleFile(None).load() == PuzzleFile(tmp_path / "none").load() == 0


ZEROS = bytes(32)


async def test_it_works_when_asked_keeps_the_result_and_works_again_for_more(tmp_path: Path) -> None:
    found: asyncio.Queue[int] = asyncio.Queue()
    file = PuzzleFile(tmp_path / "puzzle")
    with ThreadPoolExecutor(1) as executor:
        solver = PuzzleSolver(ZEROS, file, executor, found.put_nowait)
        assert await found.get() == 0, "nothing on file"
        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(solver.run())
            for bits in (10, 15):
                solver.want(bits)
                nonce = await found.get()
                assert nonce == solve_all(ZEROS, bits)
                assert work_of(ZEROS, nonce) >= bits
            solver.want(12)  # done already
            run.cancel()
    assert found.empty()


async def test_what_is_on_file_is_not_solved_again(tmp_path: Path) -> None:
    file, found = PuzzleFile(tmp_path / "puzzle"), list[int]()
    file.save(nonce := solve_all(ZEROS, 12))
    with ThreadPoolExecutor(1) as executor:
        solver = PuzzleSolver(ZEROS, file, executor, found.append)
        solver.want(12)
        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(solver.run())
            await asyncio.sleep(0)
            run.cancel()
    assert found == [nonce]
