"""A collector is told where the time of a query went, peer by peer, and nothing of what was asked."""

import asyncio
import json
import logging
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from dht import NodeId, Slot, document_id, placement_key
from index import IndexConfig, SearchRequest
from index.asking.searcher import Searcher
from index.change_feed import Text
from node.extras.traces.query_tracer import MAX_SPANS, MAX_WAITING, QueryTracer
from node.extras.traces.trace_export import TraceExport

sys.path.append(str(Path(__file__).parents[3] / "index"))
from index_network import World, loop_clock

ABOUT = {"service.name": "dse-node", "service.instance.id": "c0ffee"}
QUESTION = SearchRequest("zeppelin harbour", deadline_ms=20_000)
Spans = list[dict[str, Any]]


def text(number: int) -> Text:
    url, body = f"https://hangar{number}.test/", f"a zeppelin in the harbour, number {number}"
    version = number.to_bytes(32, "big")
    return Text(document_id(url), placement_key(url), version, url, "Zeppelins", (), body, "en", 1.8e9)


@asynccontextmanager
async def collector(status: int = 200) -> AsyncIterator[tuple[str, "asyncio.Queue[bytes]"]]:
    """An OTLP receiver; gives its address and what is sent there."""
    bodies: asyncio.Queue[bytes] = asyncio.Queue()

    async def take(request: web.BaseRequest) -> web.Response:
        assert request.content_type == "application/json" and request.path == "/v1/traces"
        bodies.put_nowait(await request.read())
        return web.json_response({}, status=status)

    runner = web.ServerRunner(web.Server(take), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1/traces", bodies
    finally:
        await runner.cleanup()


async def asked(tracer: QueryTracer, dead: int | None = None) -> tuple[World, dict[str, Any]]:
    """Ask one of three nodes, of which one may be dead; return the world and the answer."""
    world = World(random.Random(3), 3, 2, IndexConfig(engine="memory", commit_s=0.0))
    try:
        await world.put([text(number) for number in range(30)])
        if dead is not None:
            world.network.dead.add(world.nodes[dead].id)
        node, rng = world.nodes[0], random.Random(1)
        searcher = Searcher(node.overlay, node.local, node.read, loop_clock, rng, tracer=tracer)
        return world, await searcher.search(QUESTION)
    finally:
        await world.close()


async def sent(tracer: QueryTracer) -> bytes:
    async with collector() as (url, bodies), asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        export = tasks.create_task(TraceExport(url, tracer, ABOUT, every_s=0.01).run())
        body = await bodies.get()
        export.cancel()
    return body


def spans_of(body: bytes) -> Spans:
    (resource,) = json.loads(body)["resourceSpans"]
    told = {each["key"]: each["value"]["stringValue"] for each in resource["resource"]["attributes"]}
    assert told == ABOUT
    return list(resource["scopeSpans"][0]["spans"])


def figures(span: dict[str, Any]) -> dict[str, str]:
    return {each["key"]: str(*each["value"].values()) for each in span["attributes"]}


def named(spans: Spans, name: str) -> Spans:
    return [span for span in spans if span["name"] == name]


async def test_a_query_is_a_tree_of_its_parts_and_of_all_peers_that_were_asked() -> None:
    tracer = QueryTracer(1.0, loop_clock, random.Random(5))
    world, answer = await asked(tracer)
    body = await sent(tracer)
    spans = spans_of(body)
    assert answer["whole"] and answer["total"] == 30
    (root,), by_id = named(spans, "query"), {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans) and {span["traceId"] for span in spans} == {root["traceId"]}
    assert root["parentSpanId"] == "" and figures(root)["dse.answered"] == str(answer["coverage"]["slots"])
    for span in spans:
        over = by_id[span["parentSpanId"]] if span is not root else root
        assert int(over["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
        assert int(span["endTimeUnixNano"]) <= int(over["endTimeUnixNano"]) + 1000
    below = [span["name"] for span in spans if span["parentSpanId"] == root["spanId"]]
    assert {*below} == {"parse", "statistics", "best", "documents", "snippets"}
    (statistics,) = named(spans, "statistics")
    first = [figures(span) for span in named(spans, "ask") if span["parentSpanId"] == statistics["spanId"]]
    assert sum(int(each["dse.slots"]) for each in first) >= answer["coverage"]["slots"], "some are asked of two"
    peers = {each["dse.peer"] for each in first}
    assert len(peers) > 1 and peers <= {node.id.hex() for node in world.nodes}


async def test_no_word_of_a_query_or_of_its_answer_is_told() -> None:
    tracer = QueryTracer(1.0, loop_clock, random.Random(5))
    _, answer = await asked(tracer)
    said = (await sent(tracer)).lower()
    assert answer["results"][0]["url"].startswith("https://hangar")
    assert not [word for word in (b"zeppelin", b"harbour", b"hangar") if word in said]


async def test_a_peer_that_fails_is_seen() -> None:
    tracer = QueryTracer(1.0, loop_clock, random.Random(5))
    world, answer = await asked(tracer, dead=1)
    failed = [figures(span)["dse.peer"] for span in spans_of(await sent(tracer)) if span["status"]]
    assert answer["whole"] and set(failed) == {world.nodes[1].id.hex()}


async def test_of_a_share_of_none_nothing_is_kept() -> None:
    tracer = QueryTracer(0.0, loop_clock, random.Random(5))
    await asked(tracer)
    with tracer.part("ask", NodeId(bytes(20)), slots=1):
        pass
    assert tracer.take() == []


async def test_what_waits_is_bounded() -> None:
    tracer = QueryTracer(1.0, loop_clock, random.Random(5))
    with tracer.query():
        for _ in range(MAX_SPANS + 10):
            with tracer.part("ask", slots=len([Slot(1)])):
                pass
    assert len(tracer.take()) == MAX_SPANS
    for _ in range(MAX_WAITING + 10):
        with tracer.query():
            pass
    assert len(tracer.take()) == MAX_WAITING


async def test_a_collector_that_refuses_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    tracer = QueryTracer(1.0, loop_clock, random.Random(5))
    async with collector(503) as (url, bodies), asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        export = tasks.create_task(TraceExport(url, tracer, ABOUT, every_s=0.01).run())
        with caplog.at_level(logging.INFO):
            for _ in range(3):
                with tracer.query():
                    pass
                await bodies.get()
        export.cancel()
    told = [record.getMessage() for record in caplog.records if record.name == "node.extras.traces.trace_export"]
    assert told == ["traces are not taken by=traces.url reason=status 503"]


async def test_opentelemetry_reads_it() -> None:
    service = "opentelemetry.proto.collector.trace.v1.trace_service_pb2"
    trace = pytest.importorskip(service, reason="opentelemetry-proto is not installed")
    json_format = pytest.importorskip("google.protobuf.json_format")
    tracer = QueryTracer(1.0, loop_clock, random.Random(5))
    await asked(tracer)
    told = json.loads(await sent(tracer))
    assert json_format.ParseDict(told, trace.ExportTraceServiceRequest()).resource_spans[0].scope_spans[0].spans
