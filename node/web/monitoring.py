"""Answers what a supervisor asks: is the process there, does it serve, how is it doing.

/metrics gives the status as Prometheus figures, and a count of the requests that the web listener answered.
"""

import asyncio
import ctypes
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

import msgspec
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily
from prometheus_client.metrics_core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from crawl import FETCH_CLASSES, FetchLoad, FetchMeter
from node.crawling.machine_load import own_memory
from node.owner.member_page import MemberPage, member_page
from node.service.service import Service
from node.views.readiness import not_ready_reasons
from node.views.status import StatusView, view_of
from node.web.requests.api import parameters

_NAMES = ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]


class _MallInfo2(ctypes.Structure):
    """The structure that glibc's mallinfo2(3) fills in, from version 2.33 on."""

    _fields_ = [(name, ctypes.c_size_t) for name in _NAMES]


def process_figures(tasks: int) -> Iterable[Metric]:
    """Yield tasks, threads and memory as Prometheus figures; `tasks`: of the event loop, now."""
    yield GaugeMetricFamily("dse_tasks", "Tasks of the event loop", value=tasks)
    yield GaugeMetricFamily("dse_threads", "Threads of this process", value=_threads())
    if (own := own_memory()) is not None:
        yield GaugeMetricFamily("dse_own_memory_bytes", "Resident memory that no file backs", value=own)
    blocks = sys.getallocatedblocks()
    yield GaugeMetricFamily("dse_python_blocks", "Blocks of memory that the interpreter's objects take", value=blocks)
    if (heap := heap_bytes()) is not None:
        family = GaugeMetricFamily("dse_heap_bytes", "Memory of the C library's heap", labels=["state"])
        for state, value in heap.items():
            family.add_metric([state], value)
        yield family


def fetch_figures(meter: FetchMeter, load: FetchLoad, unread: int) -> Iterable[Metric]:
    """Yield what fetches cost and bring as Prometheus figures. `load`: of the last ten seconds; `unread`: pages at the
    parsers."""
    bytes_moved = CounterMetricFamily(
        "dse_fetch_bytes", "Bytes from and to sites since the start", labels=["direction"]
    )
    bytes_moved.add_metric(["in"], meter.bytes_in)
    bytes_moved.add_metric(["out"], meter.bytes_out)
    answers = CounterMetricFamily("dse_fetch_answers", "Answers of sites since the start, by class", labels=["class"])
    for name, count in zip(FETCH_CLASSES, meter.answers, strict=True):
        answers.add_metric([name], count)
    latency = GaugeMetricFamily("dse_fetch_seconds", "From request to last byte, of late", labels=["quantile"])
    latency.add_metric(["0.5"], load.p50_ms / 1000)
    latency.add_metric(["0.95"], load.p95_ms / 1000)
    yield from (bytes_moved, answers, latency)
    yield CounterMetricFamily("dse_dns_lookups", "Names looked up since the start", value=meter.lookups)
    yield CounterMetricFamily(
        "dse_dns_seconds", "Time that looking up names took since the start", value=meter.lookups_s
    )
    yield GaugeMetricFamily("dse_site_connections", "Open connections to sites", value=meter.connections)
    yield GaugeMetricFamily("dse_parser_pages", "Pages that wait for a parser, or are being read", value=unread)


def heap_bytes() -> dict[str, int] | None:
    """Return the bytes of the C library's heap by state: used, free (given back or not), and in large blocks that are
    mapped by themselves. None where the library does not tell (glibc before 2.33, others)."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):
        return None
    mallinfo2.restype = _MallInfo2
    told = mallinfo2()
    return {"used": told.uordblks, "free": told.fordblks, "mapped": told.hblkhd}


def _threads(proc: Path = Path("/proc/self/task")) -> int:
    """Return how many threads there are, those of libraries included where the system tells."""
    try:
        return len(list(proc.iterdir()))
    except OSError:
        return threading.active_count()


class Metrics:
    """Counts what one web listener answered; `text` adds the node's figures at the moment of asking."""

    def __init__(self) -> None:
        self._counters = CollectorRegistry()
        ProcessCollector(registry=self._counters)
        self._requests = Counter(
            "dse_http_requests", "Requests answered, by route and status", ("route", "status"), registry=self._counters
        )

    def count(self, route: str, status: int) -> None:
        """Note one answered request; `route` is a name of the table, so the set of labels is bounded."""
        self._requests.labels(route, str(status)).inc()

    def text(self, status: StatusView, members: MemberPage, tasks: int = 0, more: Iterable[Metric] = ()) -> bytes:
        """Write all figures in the Prometheus text format, version 0.0.4; `tasks`: of the event loop, now."""
        registry = CollectorRegistry()
        registry.register(_StatusFigures(status, members, tasks, more))
        return generate_latest(registry) + generate_latest(self._counters)


class _StatusFigures(Collector):
    def __init__(self, status: StatusView, members: MemberPage, tasks: int, more: Iterable[Metric]) -> None:
        self._status, self._members, self._tasks, self._more = status, members, tasks, list(more)

    def collect(self) -> Iterable[Metric]:
        status = self._status
        yield InfoMetricFamily("dse_node", "This node", value={"node_id": status.node_id, "version": status.version})
        yield _labelled("dse_peers", "Live peers by protocol", "family", {"ipv4": status.ipv4, "ipv6": status.ipv6})
        slots = {"owned": status.owned, "ready": status.ready, "leased": status.leased}
        yield _labelled("dse_slots", "Slots by what this node does with them", "state", slots)
        copies = {str(held): slots for held, slots in status.slots_by_copies}
        yield _labelled("dse_slot_copies", "Own slots by how many live copies they have", "copies", copies)
        needs = {topic: int(is_told) for topic, is_told in status.needs}
        yield _labelled("dse_needs_owner", "1 where a topic needs this node's owner", "topic", needs)
        yield from _network_figures(status, self._members)
        for name, about, value in _gauges(status):
            yield GaugeMetricFamily(name, about, value=value)
        yield from process_figures(self._tasks)
        yield from self._more
        yield CounterMetricFamily("dse_packets_refused", "Packets not taken", value=status.refused_packets)
        yield CounterMetricFamily("dse_crawl_fetched", "Pages fetched since the start", value=status.fetched)


def _network_figures(status: StatusView, members: MemberPage) -> Iterable[Metric]:
    states = {"live": members.live, "silent": members.all - members.live, "needy": members.needy}
    yield _labelled("dse_members", "Members of the network, by their own word and by their silence", "state", states)
    yield GaugeMetricFamily("dse_network_room_bytes", "Bytes that the live members may use", value=members.room)
    yield GaugeMetricFamily("dse_network_used_bytes", "Bytes of these that are in use", value=members.used)
    if status.knows_network:
        about = "Pages in the network, an estimate unless this node keeps all"
        yield GaugeMetricFamily("dse_network_documents", about, value=status.network_documents)


def _gauges(status: StatusView) -> Iterable[tuple[str, str, float]]:
    yield "dse_documents", "Documents kept here", status.documents
    settled = "1 when nothing is due and all live owners have stored and indexed the same"
    yield "dse_settled", settled, float(status.is_settled)
    yield "dse_under_replicated", "Own slots with fewer live copies than the strategy asks", status.under_replicated
    least = min(dict(status.slots_by_copies), default=0)
    yield "dse_copies_least", "Live copies of the own slot that has fewest", least
    yield "dse_copies_mean", "Live copies of own slots, the mean", status.copies_mean
    yield "dse_copies_too_few_seconds", "For how long a slot has waited for more copies, the longest", status.too_few_s
    yield "dse_crawl_frontier", "URLs waiting in the slots that this node crawls", status.frontier
    yield "dse_crawl_per_second", "Pages fetched a second, lately", status.per_s
    yield "dse_strategy_version", "Version of the strategy document in force", status.strategy_version
    yield "dse_strategy_expires_timestamp_seconds", "When the strategy document expires", status.strategy_expires_at
    yield "dse_disk_used_bytes", "Bytes used of the quota", status.disk_used
    yield "dse_disk_quota_bytes", "Bytes that this node may use", status.disk_quota


def _labelled(name: str, about: str, label: str, values: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=[label])
    for value, count in values.items():
        family.add_metric([value], count)
    return family


class Health:
    """Holds the handlers for supervisors, named as in the table of routes."""

    def __init__(self, service: Service, metrics: Metrics) -> None:
        self._service = service
        self._metrics = metrics

    async def healthz(self, request: web.Request) -> web.Response:
        """Answer GET /healthz: the process is there."""
        return web.Response(text="ok\n")

    async def readyz(self, request: web.Request) -> web.Response:
        """Answer GET /readyz: 200 when this node serves at least one slot, else 503 with the reasons, a line each.

        A caller that asks for JSON gets {ready, reasons, slots: {owned, ready}}."""
        told = (await self._service.status()).plain()
        reasons, slots = not_ready_reasons(told), view_of(told)
        code = 503 if reasons else 200
        wanted = parameters(request, "readyz").text("format")
        if wanted == "json" or (not wanted and "application/json" in request.headers.get("Accept", "")):
            figures = {"owned": slots.owned, "ready": slots.ready}
            body = msgspec.json.encode({"ready": not reasons, "reasons": reasons, "slots": figures})
            return web.Response(body=body, status=code, content_type="application/json")
        lines = ("not ready", *reasons) if reasons else ("ready",)
        return web.Response(text="".join(f"{line}\n" for line in lines), status=code)

    async def metrics(self, request: web.Request) -> web.Response:
        """Answer GET /metrics."""
        members = member_page(await self._service.peers(), "", "name", 0)
        status, owner = view_of((await self._service.status()).plain()), self._service.owner
        fetches = fetch_figures(owner.meter, owner.load, owner.unread())
        body = self._metrics.text(status, members, len(asyncio.all_tasks()), fetches)
        return web.Response(body=body, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})
