import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dht.identity.puzzle import PuzzleFile, PuzzleSolver, solve_all, work_of


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


KEY = bytes(32)


async def test_it_works_when_asked_keeps_the_result_and_works_again_for_more(tmp_path: Path) -> None:
    found: asyncio.Queue[int] = asyncio.Queue()
    file = PuzzleFile(tmp_path / "puzzle")
    with ThreadPoolExecutor(1) as executor:
        solver = PuzzleSolver(KEY, file, executor, found.put_nowait)
        assert await found.get() == 0, "nothing on file"
        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(solver.run())
            for bits in (10, 15):
                solver.want(bits)
                nonce = await found.get()
                assert nonce == solve_all(KEY, bits)
                assert work_of(KEY, nonce) >= bits
            solver.want(12)  # done already
            run.cancel()
    assert found.empty()


async def test_what_is_on_file_is_not_solved_again(tmp_path: Path) -> None:
    file, found = PuzzleFile(tmp_path / "puzzle"), list[int]()
    file.save(nonce := solve_all(KEY, 12))
    with ThreadPoolExecutor(1) as executor:
        solver = PuzzleSolver(KEY, file, executor, found.append)
        solver.want(12)
        async with asyncio.TaskGroup() as tasks:
            run = tasks.create_task(solver.run())
            await asyncio.sleep(0)
            run.cancel()
    assert found == [nonce]
