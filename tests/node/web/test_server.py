"""The listener: its health for supervisors, its figures, and a port that somebody else has."""

import asyncio
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from crawl import CrawlConfig
from dht import Identity, PortMissing
from node.config.settings import NodeConfig
from node.web.server import WebServer


def test_health_and_readiness(site: Any) -> None:
    assert site.get("/healthz").status == 200
    assert site.get("/readyz").status == 200
    site.service.ready = 0
    assert site.get("/readyz").status == 503
    assert site.get("/healthz").status == 200


def test_readiness_says_why_not_in_lines_and_as_json(site: Any) -> None:
    assert site.get("/readyz").text == "ready\n"
    assert site.get("/readyz?format=json").json == {"ready": True, "reasons": [], "slots": {"owned": 61, "ready": 60}}
    site.service.ready = 0
    reply = site.get("/readyz")
    first, why, *warned = reply.text.splitlines()
    assert (first, why[:21], reply.headers["content-type"]) == (
        "not ready",
        "none of its 61 slots ",
        "text/plain; charset=utf-8",
    )
    assert warned == ["the next version is 3 days late"]
    told = site.get("/readyz", Accept="application/json")
    assert (told.status, told.json["ready"], told.json["reasons"]) == (503, False, [why, *warned])
    assert site.get("/readyz?format=text", Accept="application/json").text == reply.text


def test_figures_are_in_the_prometheus_format(site: Any) -> None:
    site.get("/api/v1/status")
    meter = site.service.owner.meter
    meter.bytes_in, meter.connections = 5000, 3
    for status in (200, 200, 404):
        meter.note_answer(status, 0.25)
    meter.note_failure()
    text = site.get("/metrics").text
    assert 'dse_members{state="live"} 1.0' in text and 'dse_members{state="silent"} 1.0' in text
    assert "dse_network_documents 1204.0" in text
    samples = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["dse_documents", ()] == 812
    assert samples["dse_slots", (("state", "ready"),)] == 60
    assert samples["dse_peers", (("family", "ipv6"),)] == 3
    assert samples["dse_crawl_fetched_total", ()] == 900
    assert samples["dse_own_memory_bytes", ()] > samples["dse_python_blocks", ()] > 10_000
    answers = {name: samples["dse_fetch_answers_total", (("class", name),)] for name in ("2xx", "4xx", "5xx", "failed")}
    assert answers == {"2xx": 2, "4xx": 1, "5xx": 0, "failed": 1}
    assert samples["dse_fetch_bytes_total", (("direction", "in"),)] == 5000
    assert samples["dse_fetch_seconds", (("quantile", "0.95"),)] == 0.25
    assert (samples["dse_site_connections", ()], samples["dse_parser_pages", ()]) == (3, 7)
    heap = {state: samples["dse_heap_bytes", (("state", state),)] for state in ("used", "free", "mapped")}
    assert heap["used"] > 1e6 and sum(heap.values()) < 1e11
    assert samples["dse_threads", ()] > 1 and samples["dse_tasks", ()] >= 1
    assert samples["dse_http_requests_total", (("route", "status"), ("status", "200"))] == 1


async def test_a_port_in_use_is_one_line_with_the_remedy(site: Any) -> None:
    config = NodeConfig(web_port=site.port)
    server = WebServer(site.service, config, CrawlConfig(), "token", "0", Identity(bytes(32)))
    with pytest.raises(PortMissing) as caught:
        await asyncio.wait_for(server.run(), 5)
    assert str(site.port) in str(caught.value)
    assert "the port is in use" in str(caught.value)
    assert "node.web_port" in str(caught.value)


def test_head_is_answered_without_a_body(site: Any) -> None:
    reply = site.send("HEAD", "/")
    assert (reply.status, reply.body) == (200, b"")
