"""Keeps the spans of queries until they are told, in OTLP's JSON form; bounded, whoever asks how much.

A trace holds durations, counts and ids of nodes: `Tracer` takes no text. Its ids are random, so they tell nothing of
the question, and none goes along to peers: a question is the same bytes on the wire, traced or not.
Source: OpenTelemetry Protocol 1.x, its JSON encoding (ids in hex, instants as decimal strings).
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from random import Random
from typing import Any

from dht import Clock, NodeId

MAX_SPANS = 512  # of one query; a round asks no more peers than there are slots, mostly far fewer
MAX_WAITING = 20_000  # spans that are not told yet, 500 bytes each; of more the oldest are forgotten
INTERNAL, SERVER, CLIENT = 1, 2, 3  # what OTLP calls a part of the work here, an answer, and a question to a peer
ERROR = 2

Json = dict[str, Any]


@dataclass(slots=True)
class _Trace:
    trace_id: str
    left: int  # spans that it may still have


@dataclass(slots=True)
class _OpenSpan:
    trace: _Trace
    span_id: str
    figures: dict[str, int]

    def say(self, **figures: int) -> None:
        self.figures.update(figures)


class QueryTracer:
    """Makes spans for a share of all queries; `take` gives those that ended."""

    def __init__(self, share: float, clock: Clock, rng: Random) -> None:
        self._share, self._clock, self._rng = share, clock, rng
        self._current: ContextVar[_OpenSpan | None] = ContextVar("span", default=None)
        self._ended: deque[Json] = deque(maxlen=MAX_WAITING)

    @contextmanager
    def query(self) -> Iterator[_OpenSpan]:
        """Trace a query, where its turn has come by chance."""
        if self._rng.random() >= self._share:
            yield _unheard()
            return
        with self._span(_Trace(self._rng.randbytes(16).hex(), MAX_SPANS), "", "query", SERVER, {}) as span:
            yield span

    @contextmanager
    def part(self, name: str, peer: NodeId | None = None, **figures: int) -> Iterator[_OpenSpan]:
        """Time a part of the query that this task works for; of none where it is not traced."""
        over = self._current.get()
        if over is None or not over.trace.left:
            yield _unheard()
            return
        with self._span(over.trace, over.span_id, name, CLIENT if peer else INTERNAL, figures, peer) as span:
            yield span

    def take(self) -> list[Json]:
        """Return the spans that ended since the last time, a part before what it belongs to."""
        spans = list(self._ended)
        self._ended.clear()
        return spans

    @contextmanager
    def _span(
        self, trace: _Trace, parent: str, name: str, kind: int, figures: dict[str, int], peer: NodeId | None = None
    ) -> Iterator[_OpenSpan]:
        trace.left -= 1
        span, began, has_failed = _OpenSpan(trace, self._rng.randbytes(8).hex(), figures), self._clock(), True
        before = self._current.set(span)
        try:
            yield span
            has_failed = False
        finally:
            self._current.reset(before)
            took_s = self._clock().steady - began.steady
            told = [_attribute(f"dse.{key}", "intValue", str(value)) for key, value in span.figures.items()]
            told += [_attribute("dse.peer", "stringValue", peer.hex())] if peer else []
            self._ended.append(
                {
                    "traceId": trace.trace_id,
                    "spanId": span.span_id,
                    "parentSpanId": parent,
                    "name": name,
                    "kind": kind,
                    "startTimeUnixNano": str(int(began.wall * 1e9)),
                    "endTimeUnixNano": str(int((began.wall + took_s) * 1e9)),
                    "attributes": told,
                    "status": {"code": ERROR} if has_failed else {},
                }
            )


def otlp_request(spans: Sequence[Json], about: dict[str, str]) -> Json:
    """Return the body of a POST to /v1/traces. `about`: what is said of this node, by OpenTelemetry's names."""
    resource = {"attributes": [_attribute(key, "stringValue", value) for key, value in about.items()]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "dse-node"}, "spans": spans}]}]}


def _unheard() -> _OpenSpan:
    """Return a span to which anything may be said in vain."""
    return _OpenSpan(_Trace("", 0), "", {})


def _attribute(key: str, kind: str, value: str) -> Json:
    return {"key": key, "value": {kind: value}}
