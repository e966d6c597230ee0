"""One task runs all checks: those of one topic one after the other, a full line leaves checks out, steps repeat."""

import asyncio

import pytest

from dht.audit.check_queue import MAX_WAITING, OPEN, REST_S, CheckQueue
from dht.audit.sampling import Topic
from dht.clock import Now

pytestmark = pytest.mark.virtual_time


def loop_clock() -> Now:
    now = asyncio.get_running_loop().time()
    return Now(1e9 + now, now)


async def test_checks_of_one_topic_wait_for_each_other_and_for_no_other_topic() -> None:
    queue, began = CheckQueue(loop_clock), list[tuple[Topic, float]]()

    async def check(topic: Topic) -> None:
        began.append((topic, loop_clock().steady))
        await asyncio.sleep(1.0)

    start = loop_clock().steady
    for topic in (Topic.HITS, Topic.HITS, Topic.RECORDS, *[Topic.PAGES] * (OPEN[Topic.PAGES] + 1)):
        queue.offer(topic, lambda topic=topic: check(topic))  # type: ignore[misc]
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(queue.run())
        await asyncio.sleep(10.0)
        running.cancel()
    at = {topic: [round(when - start, 1) for each, when in began if each == topic] for topic in Topic}
    assert at[Topic.HITS] == [0.0, 1.0 + REST_S] and at[Topic.RECORDS] == [0.0]
    assert at[Topic.PAGES] == [0.0] * OPEN[Topic.PAGES] + [1.0]
    assert not queue.running(Topic.PAGES)


async def test_a_full_line_leaves_checks_out() -> None:
    queue, made = CheckQueue(loop_clock), list[int]()

    async def check(number: int) -> None:
        made.append(number)

    for number in range(MAX_WAITING + 5):
        queue.offer(Topic.HITS, lambda number=number: check(number))  # type: ignore[misc]
    assert not queue.has_room(Topic.HITS) and queue.has_room(Topic.RECORDS)
    await queue.run_waiting()
    assert made == list(range(MAX_WAITING))


async def test_a_step_repeats_after_the_rest_that_it_asked_for_and_also_after_a_restart() -> None:
    queue, at = CheckQueue(loop_clock), list[float]()

    async def step() -> float:
        at.append(loop_clock().steady)
        if len(at) == 3:
            raise ValueError("this machine")
        return 5.0

    start = loop_clock().steady
    queue.repeat(step)
    with pytest.raises(ExceptionGroup):
        await queue.run()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(queue.run())
        await asyncio.sleep(7.0)
        running.cancel()
    assert [round(each - start) for each in at] == [0, 5, 10, 10, 15]
