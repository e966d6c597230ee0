"""Two nodes between which fetches are ordered: what the tests of both sides share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec

from crawl import CrawlDecision, Decide, FamilyMissing, Fetched, FetchFailed, OperatorBlocklist
from dht import BadMessage, Contact, Endpoint, Message, NodeId, Slot
from node.crawling.fetch_rules import FetchRules
from node.delegation.fetch_order import FetchAnswer, FetchOrder
from node.delegation.order_server import OrderServer

HOLDER, CARRIER, STRANGER = (NodeId(bytes([n]) * 20) for n in (1, 2, 3))
URL = "http://a.test/page"


@dataclass
class Web:
    """A fetcher that remembers what it was asked for."""

    missing: bool = False
    failure: FetchFailed | None = None
    asked: list[tuple[str, dict[str, str], int]] = field(default_factory=list)

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        if self.missing:
            raise FamilyMissing(url, 6)
        if self.failure is not None:
            raise self.failure
        self.asked.append((url, dict(headers), max_bytes))
        return Fetched(url, 200, (("Content-Type", "text/html"),), b"x" * min(max_bytes, 50), False, 0.1, "::1")


class Pair:
    """Overlay and view of two nodes; the slots are the holder's."""

    told = b""  # what peers tell of hosts that they refuse

    def __init__(self) -> None:
        self.node_id = HOLDER
        self.strategy = type("Strategy", (), {"slot_bits": 4})
        self.handlers: dict[type[Message], Any] = {}
        self.answer: Any = None
        self.member_ids: tuple[NodeId, ...] = (HOLDER, CARRIER)
        self.gone: set[NodeId] = set()

    @property
    def view(self) -> "Pair":
        return self

    def serve(self, message: type[Message], handler: Any) -> None:
        self.handlers.setdefault(message, handler)

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return (HOLDER,)

    live_owners = owners

    def members(self) -> tuple[NodeId, ...]:
        return self.member_ids

    def is_live(self, peer: NodeId) -> bool:
        return peer not in self.gone

    @property
    def peers(self) -> Self:
        return self

    def refuses(self, peer: NodeId) -> bytes:
        return self.told

    def contact(self, peer: NodeId) -> Contact:
        return Contact(peer, (Endpoint("::1", 1, 1),))

    async def ask(self, peer: NodeId, message: Message, answer: type[Any], *, timeout_s: float) -> Any:
        given = self.answer or await self.handlers[type(message)](HOLDER, message)
        try:
            return msgspec.msgpack.decode(msgspec.msgpack.encode(given), type=answer)
        except msgspec.ValidationError as error:
            raise BadMessage(peer.hex(), str(error)) from error


def decide(url: str) -> CrawlDecision:
    return CrawlDecision("/secret" not in url and not url.endswith("robots.txt"), "rule 1 of strategy 1")


def ruled(decide: Decide = decide, *refused: str) -> FetchRules:
    return FetchRules(decide, lambda _url: False, OperatorBlocklist(refused))


def carrier(pair: Pair) -> Web:
    web = Web()
    OrderServer(web, pair, ruled(), 1000)  # type: ignore[arg-type]
    return web


async def order(pair: Pair, peer: NodeId = HOLDER, url: str = URL, max_bytes: int = 100, **headers: str) -> FetchAnswer:
    sent = FetchOrder(url, tuple((name.replace("_", "-"), value) for name, value in headers.items()), max_bytes)
    answer: FetchAnswer = await pair.handlers[FetchOrder](peer, sent)
    return answer
