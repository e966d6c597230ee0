"""Which pages of clients are fetched again, and what counts as a lie."""

from random import Random

import pytest
from msgspec.structs import replace

from crawl import Fetched, InlineParsers
from dht import NodeId, Now, PeerAudit
from node.delegation.client_audit import MAX_PENDING, ClientAudit

CLIENT = NodeId(b"c" * 20)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HTML = (("Content-Type", "text/html; charset=utf-8"),)


def page(text: str, status: int = 200, url: str = "http://a.test/") -> Fetched:
    return Fetched(url, status, HTML, f"<title>t</title><p>{text}</p>".encode(), False, 0.1, "")


def prose(seed: int) -> str:
    rng = Random(seed)
    return " ".join("".join(rng.choices(LETTERS, k=rng.randint(2, 9))) for _ in range(300))


class Desk:
    def __init__(self) -> None:
        self.again, self.liars = list[str](), list[tuple[NodeId, str]]()
        note = lambda client, why: self.liars.append((client, why))  # noqa: E731
        audit = PeerAudit(lambda: Now(0.0, 0.0), Random(3).random)
        self.checks = ClientAudit(InlineParsers(), audit, self.again.append, note)

    async def judge(self, brought: Fetched, own: Fetched) -> str:
        self.checks.consider(CLIENT, brought)
        assert self.again == [own.url] and self.checks.is_due(own.url)
        await self.checks.compare(own)
        assert not self.checks.is_due(own.url)
        return self.liars[0][1] if self.liars else ""


def test_the_first_page_of_each_client_is_checked_and_few_others() -> None:
    desk = Desk()
    for client in range(20):
        desk.checks.consider(NodeId(bytes([client]) * 20), page("", url=f"http://a.test/{client}"))
    assert len(desk.again) == 20
    for n in range(5000):
        desk.checks.consider(NodeId(bytes(20)), page("", url=f"http://b.test/{n}"))
    assert 60 <= len(desk.again) - 20 <= 140
    assert sum(desk.checks.is_due(url) for url in desk.again) <= MAX_PENDING


@pytest.mark.parametrize(
    ("brought", "own"),
    [
        (page(prose(1)), page(prose(1))),
        (page(prose(1) + " at 12:01 one visitor"), page(prose(1) + " at 12:07 two visitors")),
        (page(prose(1) + prose(2)), page(prose(1) + prose(3))),
        (page("", 404), page("not here", 404)),
        (page(prose(1)), page("", 503)),
        (page(prose(1)), page("", 429)),
    ],
    ids=["equal", "clock", "half", "gone", "site failed", "site is busy"],
)
async def test_an_honest_client_stays_one(brought: Fetched, own: Fetched) -> None:
    assert not await Desk().judge(brought, own)


@pytest.mark.parametrize(
    ("brought", "own", "why"),
    [
        (page(prose(1)), page(prose(2)), "another text"),
        (page(prose(1)), page("", 404), "status 200 where the site says 404"),
        (page("", 404), page(prose(1)), "status 404 where the site says 200"),
        (page(""), page(prose(1)), "no text"),
        (replace(page(prose(1)), headers=(("Content-Type", "application/pdf"),)), page(prose(1)), "no text"),
    ],
)
async def test_a_lie_is_told_with_its_reason(brought: Fetched, own: Fetched, why: str) -> None:
    desk = Desk()
    assert why in await desk.judge(brought, own)
    assert desk.liars[0][0] == CLIENT and "http://a.test/" in desk.liars[0][1]
