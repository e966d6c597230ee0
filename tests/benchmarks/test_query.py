"""The benchmark of a query asks as people do, of pages that fill the slots, and says truly where time goes."""

import asyncio
import itertools
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.figures import ROOT
from benchmarks.query import nodes, one_index
from benchmarks.query.crowd import Load, overload, percentile
from benchmarks.query.five_nodes import write_sites
from benchmarks.query.groups import GROUPS, LOOP, MESSAGES, SHOWN, TANTIVY, by_group, group
from benchmarks.query.observed import Sampler
from benchmarks.query.typed_words import typed_words
from benchmarks.search.extent import Extent
from benchmarks.search.web_pages import WebPage, read_web
from index import Text
from index.text.stop_words import languages_of
from node.extras.demo.sample_web import unpack_sample


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    unpack_sample(folder)
    return folder


@pytest.fixture(scope="module")
def pages(web: Path) -> list[WebPage]:
    return list(read_web(web))


@pytest.fixture(scope="module")
def texts(pages: list[WebPage]) -> list[Text]:
    return one_index.made_up(pages, 600, random.Random(1))


def test_pages_fill_most_of_256_slots(texts: list[Text]) -> None:
    assert len({text.key[0] for text in texts}) > 200


def test_no_query_is_asked_twice_and_few_words_stand_in_most(texts: list[Text]) -> None:
    queries = typed_words(texts, 500, random.Random(1))
    assert len({frozenset(query.split()) for query in queries}) == len(queries) == 500
    words = Counter(word for query in queries for word in query.split())
    assert not any(languages_of(word) for word in words)
    commonest = sum(count for _, count in words.most_common(len(words) // 10))
    assert commonest > words.total() / 3


def test_the_web_says_what_its_documents_do(texts: list[Text], tmp_path: Path) -> None:
    write_sites(tmp_path, texts[:30])
    found = {page.url: page.found.title for page in read_web(tmp_path)}
    assert found == {text.url: text.title.strip() for text in texts[:30]}


def test_every_group_has_its_place() -> None:
    assert not [place for place in GROUPS if not (ROOT / place).exists()]


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ("index/engine/tantivy.py;index/shard/shard_search.py", TANTIVY),
        ("", TANTIVY),
        ("index/text/analyzer.py;index/results/answer_checks.py;index/asking/page_filler.py", SHOWN),
        ("dht/identity/node_key.py;dht/protocol/engine.py", MESSAGES),
        ("node/process/run_node.py;node/cli/main.py", LOOP),
    ],
)
def test_time_counts_for_the_innermost_file_that_does_not_work_for_others(files: str, named: str) -> None:
    assert group(files) == named


def test_samples_add_up_to_the_time_that_was_used() -> None:
    sampler, began, usual = Sampler(), time.process_time(), signal.getsignal(signal.SIGPROF)
    sampler.toggle()
    while time.process_time() - began < 0.3:
        pass
    sampler.toggle()
    used = time.process_time() - began
    signal.signal(signal.SIGPROF, usual)
    seconds = sampler.seconds()
    here = sum(spent for files, spent in seconds.items() if files.startswith("tests/benchmarks/test_query.py"))
    assert seconds.total() == pytest.approx(used, rel=0.1) and here > 0.8 * used
    assert sum(by_group(seconds).values()) == pytest.approx(1.0)


async def test_a_node_that_says_no_in_time_is_told_from_one_that_lets_wait() -> None:
    answers = itertools.cycle([b"200 OK", b"429 Too Many Requests", b"503 Service Unavailable"])
    body = b'{"partial": true}'

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (next(answers), len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        load = await overload(server.sockets[0].getsockname()[1], _words(), 60.0, 0.5)
    assert (len(load.answers), len(load.refusals), load.partial, load.silent) == (10, 20, 10, 0)


def _words() -> Iterator[str]:
    return iter(lambda: "two words", "")


def test_of_no_answers_nothing_is_slow() -> None:
    assert percentile([], 95) == 0.0 and percentile([3.0], 95) == 3.0 and Load().per_s == 0.0


@pytest.mark.prove
def test_a_small_network_is_asked_alone_in_a_crowd_and_while_pages_come_in(web: Path) -> None:
    size = nodes.Size(pages=40, later=30, before=5, asked=5, idle_s=0.5, load_s=0.5, clients=(1, 2))
    found = {row.what: row.ours for row in nodes.rows(Extent(web=web, quick=True), size)}
    assert found["five nodes: copies of pages"] >= 3 * 40
    assert found["five nodes, Zipf words: whole"] == 1.0 and found["five nodes, Zipf words: messages a query"] > 1
    groups = sum(ms for what, ms in found.items() if what.startswith("of it: "))
    assert groups == pytest.approx(found["five nodes, Zipf words: CPU of all, mean"], rel=0.01)
    assert found["one node of five, 2 clients: queries"] > 0 and found["overload ×4: answered"] > 0
    assert found["five nodes, Zipf words at 5 pages/s: wall p50"] > 0


@pytest.mark.prove
def test_queries_of_one_node_are_timed(web: Path) -> None:
    found = {row.what: row.ours for row in one_index.rows(Extent(web=web, documents=50))}
    assert found["one node, of so many documents"] == 50
    assert 0 < found["one node, a title, CPU p50"] <= found["one node, a title, CPU p95"]
    loaded = [what for what in found if any(word in what for word in ("indexed /", "deleted", "second page"))]
    assert len(loaded) == 3 and all(found[what] > 0 for what in loaded)
    assert found["opening the index and the first query"] > 0 and found["forward records"] > 0
