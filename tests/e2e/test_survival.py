"""Nodes killed without warning in the middle of a crawl: nothing is lost, hardly anything is fetched twice."""

import asyncio
import time
from pathlib import Path

import pytest
from survival import SMALL_PAGES, WHOLE_PAGES, Crawled, Killed, demo, finished, kill_in_mid_crawl, small_web

from node.extras.demo.checks import FULL_AGAIN_WITHIN_S, ExpectedQuery, check_queries, load_queries, query_row
from node.extras.demo.layout import DemoNode
from node.extras.demo.report import DemoReport
from node.extras.demo.runner import Demo

NODES = range(5)
RECORDING_S = 3.0  # from a request to its recorded outcome, at most, on a slow machine


async def undisturbed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, port: int, nodes: int, web: Path | None = None
) -> Crawled:
    """The same web crawled by a network that nothing happens to."""
    async with demo(monkeypatch, tmp_path, port, nodes=nodes, web=web) as running:
        crawled = await finished(running)
    assert crawled.duplicates == 0 and len(crawled.stored) >= (100 if web else 300)
    return crawled


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """An undisturbed crawl by five nodes, once for all the long tests."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        return asyncio.run(undisturbed(monkeypatch, tmp_path_factory.mktemp("whole"), 18420, len(NODES)))


async def killed_for_good(victim: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, port: int) -> Crawled:
    """A crawl that loses a node."""
    async with demo(monkeypatch, tmp_path, port) as running:
        killed = await kill_in_mid_crawl(running, running.nodes[victim], time.time)
        crawled = await finished(running)
    check_duplicates(crawled, killed)
    assert crawled.replicas_min >= 2, "what the dead node held is still on two nodes"
    assert crawled.gaps_under_rule == 0
    return crawled


async def killed_and_restarted(
    victim: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    port: int,
    is_back: asyncio.Event,
    web: Path | None = None,
) -> Crawled:
    """A crawl in which a node dies and starts again at once, with the same data directory. `web`: a small one, for
    three nodes."""
    async with demo(monkeypatch, tmp_path, port, nodes=3 if web else 5, web=web) as running:
        pages = SMALL_PAGES if web else WHOLE_PAGES
        killed = await kill_in_mid_crawl(running, running.nodes[victim], time.time, pages)
        running.start_node(killed.node)
        is_back.set()
        crawled = await finished(running)
    check_duplicates(crawled, killed)
    assert crawled.report.failures == [] and crawled.replicas_min == 3
    assert crawled.gaps_under_rule == 0
    return crawled


def check_duplicates(crawled: Crawled, killed: Killed) -> None:
    """Only what was open at the kill is fetched again, once."""
    assert crawled.duplicates <= killed.open, (crawled.again, killed)
    for url, times in crawled.again.items():
        assert len(times) == 2, f"{url}: fetched at {times}"
        was_open = killed.looked_at - RECORDING_S < times[0] <= killed.at
        assert was_open, f"{url} was not open at the kill at {killed.at}: fetched at {times}"


def check_same(crawled: Crawled, whole: Crawled) -> None:
    """The same URLs were fetched, and the same documents are stored."""
    assert crawled.fetched == whole.fetched
    assert crawled.stored == whole.stored


@pytest.mark.e2e
async def test_a_crawl_survives_a_kill_and_a_restart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two networks: while the first waits for the killed node's leases, the second one crawls."""
    is_back, web = asyncio.Event(), small_web(tmp_path)
    async with asyncio.TaskGroup() as tasks:
        again = tasks.create_task(killed_and_restarted(1, monkeypatch, tmp_path, 18320, is_back, web))
        await is_back.wait()
        alone = tasks.create_task(undisturbed(monkeypatch, tmp_path, 18340, 1, web))
    check_same(again.result(), alone.result())


@pytest.mark.prove
@pytest.mark.parametrize("victim", NODES)
async def test_a_crawl_survives_any_node_killed_for_good(
    victim: int, whole: Crawled, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check_same(await killed_for_good(victim, monkeypatch, tmp_path, 18400), whole)


@pytest.mark.prove
@pytest.mark.parametrize("victim", NODES)
async def test_any_node_restarted_resumes_without_fetching_what_it_has(
    victim: int, whole: Crawled, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check_same(await killed_and_restarted(victim, monkeypatch, tmp_path, 18440, asyncio.Event()), whole)


@pytest.mark.prove
async def test_any_settled_node_may_be_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each in turn: coverage 1 and the same top ten within 10 s from every survivor; then it starts again."""
    async with demo(monkeypatch, tmp_path, 18480) as running:
        crawled = await finished(running)
        queries = load_queries(None, None, running.web, crawled.texts)
        for victim in running.nodes:
            report = DemoReport()
            await check_queries(running.client, running.nodes, queries, crawled.texts, report)
            assert report.failures == [], f"before {victim.name} is killed"
            killed_at = time.monotonic()
            running.kill(victim)
            await asked_by_all(running, queries, report)
            assert time.monotonic() - killed_at < FULL_AGAIN_WITHIN_S
            running.start_node(victim)
            assert await running.wait_settled(running.seconds() + 90), f"not settled with {victim.name} back"


async def asked_by_all(running: Demo, queries: list[ExpectedQuery], before: DemoReport) -> None:
    """Until every survivor answers as before, at most for the promised time."""
    async with asyncio.timeout(FULL_AGAIN_WITHIN_S), asyncio.TaskGroup() as tasks:
        for node in running.alive():
            tasks.create_task(same_as_before(running, node, queries, before))


async def same_as_before(running: Demo, node: DemoNode, queries: list[ExpectedQuery], before: DemoReport) -> None:
    expected = {row.q: row.results for row in before.queries if row.node == node.name}
    for query in queries:
        while True:
            answer = await running.client.search(node, query.q)
            row = query_row(query, node, answer) if answer else None
            if row and row.coverage == 1 and row.results == expected[query.q]:
                break
            await asyncio.sleep(0.2)
