"""Defines one fetch that a node has another one make: the order, what came of it, and their bounds on the wire."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from crawl import Fetched
from dht import Message, NodeId

VALIDATORS = ("if-none-match", "if-modified-since")  # all that a holder may send along
MAX_HEADERS = 128  # of an answer; as many as a fetch reads
MAX_BODY_BYTES = 8 << 20  # what a message between peers may have
MAX_LATENCY_S = 3600.0
ORDER_WITHIN_S = 65.0  # one whole fetch there, and the way

Url = Annotated[str, Meta(max_length=2048)]
Header = tuple[Annotated[str, Meta(max_length=256)], Annotated[str, Meta(max_length=16_384)]]


class FetchOrder(Message, frozen=True, array_like=True):
    """Asks for a GET of this URL, with these headers (validators)."""

    url: Url
    headers: Annotated[tuple[Header, ...], Meta(max_length=len(VALIDATORS))]
    max_bytes: Annotated[int, Meta(ge=1, le=1 << 40)]


class FetchAnswer(Message, frozen=True, array_like=True):
    """Brings what came back, or why nothing did."""

    status: Annotated[int, Meta(ge=0, le=999)] = 0
    headers: Annotated[tuple[Header, ...], Meta(max_length=MAX_HEADERS)] = ()
    body: Annotated[bytes, Meta(max_length=MAX_BODY_BYTES)] = b""
    cut: bool = False
    latency_s: Annotated[float, Meta(ge=0.0, le=MAX_LATENCY_S)] = 0.0
    address: Annotated[str, Meta(max_length=64)] = ""
    failure: Annotated[str, Meta(max_length=300)] = ""


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """Carries what a client answered to an order."""

    client: NodeId
    answer: FetchAnswer


def fetched_by(answer: FetchAnswer, url: str, max_bytes: int, address: str) -> Fetched | None:
    """Return what a site would have given, None where the answer is nothing that a site gives."""
    if answer.status < 100:
        return None
    return Fetched(url, answer.status, answer.headers, answer.body[:max_bytes], answer.cut, answer.latency_s, address)
