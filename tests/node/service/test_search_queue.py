"""A node that is asked more than it can answer refuses in time, and callers take turns."""

import asyncio
from collections import Counter
from statistics import quantiles

import pytest

from node.extras.simulation.loop import SimLoop
from node.service.search_queue import AT_ONCE, PATIENCE_S, SearchQueue, TooBusy

TOOK_S = 0.1
CAPACITY = AT_ONCE / TOOK_S  # searches a second


class Node:
    """Answers searches, each after TOOK_S of work, and notes what became of each by its caller."""

    def __init__(self, loop: SimLoop) -> None:
        self.loop, self.queue = loop, SearchQueue(loop.time)
        self.answered: list[tuple[str, float]] = []
        self.refused: list[tuple[str, float, int]] = []

    async def ask(self, caller: str) -> None:
        began = self.loop.time()
        try:
            async with self.queue.turn(caller):
                await asyncio.sleep(TOOK_S)
        except TooBusy as error:
            self.refused.append((caller, self.loop.time() - began, error.retry_after_s))
        else:
            self.answered.append((caller, self.loop.time() - began))

    async def ask_all(self, callers: list[str], a_second: float) -> None:
        async with asyncio.TaskGroup() as tasks:
            for caller in callers:
                tasks.create_task(self.ask(caller))
                await asyncio.sleep(1 / a_second)


def asked(callers: list[str], a_second: float) -> Node:
    node = Node(loop := SimLoop())
    loop.run(node.ask_all(callers, a_second))
    return node


def test_nobody_waits_or_is_refused_below_what_the_node_can_do() -> None:
    node = asked(["a"] * 200, CAPACITY * 0.9)
    assert not node.refused and max(took for _, took in node.answered) <= TOOK_S + 0.01


def test_of_four_times_what_it_can_do_it_answers_in_half_a_second_and_refuses_the_rest_at_once() -> None:
    node = asked(["a"] * 800, CAPACITY * 4)
    took, waited = [took for _, took in node.answered], [waited for _, waited, _ in node.refused]
    assert len(took) >= 0.95 * CAPACITY * 800 / (4 * CAPACITY), "it is busy all the time"
    assert quantiles(took, n=20)[18] <= 0.5
    assert quantiles(waited, n=20)[18] <= 0.1
    assert all(1 <= retry_after_s <= 2 for _, _, retry_after_s in node.refused)


def test_one_who_floods_takes_no_turn_of_those_who_ask_little() -> None:
    callers = [f"calm {n}" if n % 16 == 0 else "flood" for n in range(1600)]
    node = asked(callers, CAPACITY * 4)
    kept = Counter(caller.split()[0] for caller, _ in node.answered)
    assert kept["calm"] == 100, "of a hundred callers each has an answer"
    assert kept["flood"] > 200, "and the rest is the flood's"


def test_a_turn_that_comes_in_the_moment_when_its_search_is_called_off_is_not_lost() -> None:
    async def main() -> None:
        queue = SearchQueue(loop.time, at_once=1)
        async with asyncio.TaskGroup() as tasks:
            async with queue.turn("a"):
                waits = tasks.create_task(queue.turn("b").__aenter__())
                await asyncio.sleep(0.01)
            waits.cancel()  # its turn has come, and it has not gone on yet
        async with asyncio.timeout(PATIENCE_S), queue.turn("c"):
            pass

    (loop := SimLoop()).run(main())


def test_a_search_that_fails_or_is_called_off_gives_its_turn_back() -> None:
    async def main() -> None:
        queue = SearchQueue(loop.time, at_once=1)
        with pytest.raises(ValueError, match="no"):
            async with queue.turn("a"):
                raise ValueError("no")
        async with queue.turn("a"):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), queue.turn("b"):
                    pass
        async with asyncio.timeout(PATIENCE_S), queue.turn("c"):
            pass

    (loop := SimLoop()).run(main())
