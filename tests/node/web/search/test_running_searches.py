"""A search is asked once, shown twice: what came first, and all of it to whoever has the token, for a while."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count

import pytest

from index import SearchRequest
from index.errors import QueryError
from node.api.body import Json
from node.web.search.running_searches import FIRST_MS, KEPT_S, MAX_RUNNING, RunningSearches
from tests.node.conftest import FakeService
from tests.store.network import simulate

QUESTION = SearchRequest("task")
EARLY, WHOLE = {"results": [1]}, {"results": [1, 2]}


class SlowNode(FakeService):
    """A node whose searches take their time, and which counts them."""

    takes_s, finds, fails = 1.0, True, False

    async def search(self, question: SearchRequest, caller: str = "") -> Json:
        self.asked.append(question)
        await asyncio.sleep(self.takes_s)
        if self.fails:
            raise QueryError(0, "says nothing")
        return WHOLE

    def begin(self, question: SearchRequest, caller: str = ""):
        node = self

        class Run:
            async def answer(self) -> Json:
                return await node.search(question)

            async def so_far(self) -> Json | None:
                return EARLY if node.finds else None

        return Run()


def run(node: SlowNode, story: Callable[[RunningSearches], Awaitable[None]]) -> None:
    async def whole() -> None:
        numbers = count(1)
        searches = RunningSearches(node, lambda: f"token {next(numbers)}")
        async with searches.open():
            await story(searches)

    simulate(whole())


def now() -> float:
    return asyncio.get_running_loop().time()


def test_what_came_first_is_shown_after_400_ms_and_the_rest_to_whoever_has_the_token_once() -> None:
    node = SlowNode()

    async def story(searches: RunningSearches) -> None:
        assert await searches.first(QUESTION) == (EARLY, "token 1") and now() == FIRST_MS / 1000
        assert await searches.rest("token 1", SearchRequest("another")) is None
        assert await searches.rest("token 2", QUESTION) is None
        assert await searches.rest("token 1", QUESTION) == WHOLE and now() == node.takes_s
        assert await searches.rest("token 1", QUESTION) is None
        assert len(node.asked) == 1 and node.asked[0].first_ms == FIRST_MS

    run(node, story)


def test_an_answer_in_time_has_no_rest_and_where_nothing_was_found_it_is_waited_for() -> None:
    node = SlowNode()

    async def story(searches: RunningSearches) -> None:
        node.takes_s = 0.3
        assert await searches.first(QUESTION) == (WHOLE, "")
        node.takes_s, node.finds = 2.0, False
        assert await searches.first(QUESTION) == (WHOLE, "")

    run(node, story)


def test_what_nobody_fetches_is_forgotten() -> None:
    async def story(searches: RunningSearches) -> None:
        _, token = await searches.first(QUESTION)
        await asyncio.sleep(SlowNode.takes_s + KEPT_S)
        assert await searches.rest(token, QUESTION) is None

    run(SlowNode(), story)


def test_of_too_many_at_once_the_others_are_waited_for() -> None:
    async def story(searches: RunningSearches) -> None:
        async with asyncio.TaskGroup() as tasks:
            some = [tasks.create_task(searches.first(QUESTION)) for _ in range(MAX_RUNNING + 1)]
        assert [bool(each.result()[1]) for each in some] == [True] * MAX_RUNNING + [False]
        await asyncio.sleep(KEPT_S)
        assert (await searches.first(QUESTION))[1], "there is room again"

    run(SlowNode(), story)


def test_an_error_is_told_whoever_asks() -> None:
    node = SlowNode()
    node.fails = True

    async def story(searches: RunningSearches) -> None:
        _, token = await searches.first(QUESTION)
        with pytest.raises(QueryError, match="says nothing"):
            await searches.rest(token, QUESTION)
        node.takes_s = 0.1
        with pytest.raises(QueryError, match="says nothing"):
            await searches.first(QUESTION)

    run(node, story)


def test_a_reader_who_leaves_takes_no_place() -> None:
    async def story(searches: RunningSearches) -> None:
        for _ in range(MAX_RUNNING):
            async with asyncio.TaskGroup() as tasks:
                reader = tasks.create_task(searches.first(QUESTION))
                await asyncio.sleep(0.1)
                reader.cancel()
        await asyncio.sleep(SlowNode.takes_s)
        assert (await searches.first(QUESTION))[1]

    run(SlowNode(), story)
