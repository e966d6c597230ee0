"""A network of the lab that has crawled its web, to which something is then done while it is asked."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from crawl import signature
from index import SearchOracle, Text
from node.extras.demo.judge import MOST_SECOND_LOOK_SHARE
from node.service.query_desk import KEPT_S
from tests.lab import judge
from tests.lab.host import Host, until
from tests.lab.internet import Internet
from tests.lab.load import QUERIES, Asked, Load, answer, answers

REPLICAS = 3
PAGES = 479  # of the sample web
FOUR, SIX, BOTH = (4,), (6,), (4, 6)
NINE = (FOUR, SIX, BOTH) * 3
FORMED_WITHIN_S, RESTED_WITHIN_S, WHOLE_WITHIN_S, ONE_VIEW_WITHIN_S = 60.0, 150.0, 60.0, 30.0


@dataclass
class Village:
    """The hosts of a network, what it should know, and who asks it."""

    net: Internet
    hosts: list[Host]
    formed_s: float = 0.0
    exact_s: float = 0.0  # after that
    rested_s: float = 0.0
    texts: Sequence[Text] = ()
    complete_at: float = 0.0

    @property
    def alive(self) -> list[Host]:
        """Return the hosts whose node runs."""
        return [host for host in self.hosts if host.is_running]

    def load(self, rate: float = 2.0) -> Load:
        """Somebody who asks all of them."""
        return Load(self.hosts, seed=self.net.seed, rate=rate, diary=self.net.folder / "asked.jsonl")

    async def form(self) -> None:
        """Install a node on every machine, and wait for one view, and until all that they answer is exact."""
        began = time.monotonic()
        await self.net.install(*self.hosts)
        await judge.one_view(self.hosts, FORMED_WITHIN_S)
        self.formed_s = time.monotonic() - began

        numbers = count()

        async def is_so() -> bool:
            query = f"number {next(numbers)}"  # another each time: answers are kept for seconds
            return all([(await answer(host, query)).is_exact for host in self.hosts])

        self.exact_s = await until("all answers exact", is_so, ONE_VIEW_WITHIN_S, every_s=0.5)

    async def crawl(self) -> None:
        """Crawl the web to its end, and keep what was found."""
        await self.hosts[0].crawl(self.net.start_urls)
        self.rested_s = await judge.rested(self.alive, RESTED_WITHIN_S)
        self.complete_at = time.time() + KEPT_S  # until then an answer may be one of before
        self.texts = await judge.documents(self.net, self.alive)

    async def whole_again(self, within_s: float = WHOLE_WITHIN_S, asked: Sequence[Host] = ()) -> float:
        """Wait until every living node answers every query as brute force does; the seconds."""
        oracle = SearchOracle(self.texts, signature)
        truths = {query: oracle.search(query) for query in QUERIES}

        async def differing() -> str:
            found = await answers(asked or self.alive, QUERIES)
            wrong = [
                f"{row.host} {row.query!r}: {row.total} of {truths[row.query].total}{' partial' * row.is_partial}"
                for row in found
                if row.is_partial
                or row.total != truths[row.query].total
                or row.urls != tuple(hit.text.url for hit in truths[row.query].hits[: len(row.urls)])
            ]
            return "; ".join(wrong[:5])

        async def is_so() -> "_Differences":
            return _Differences(await differing())

        return await until("all answers whole", is_so, within_s, every_s=0.5)

    async def copied(self, within_s: float = WHOLE_WITHIN_S) -> float:
        """Wait until each document has its copies among the living; the seconds."""
        urls, wanted = [text.url for text in self.texts], min(REPLICAS, len(self.alive))

        async def is_so() -> "_Differences":
            counts = await judge.copies(self.alive, urls)
            return _Differences("" if min(counts) >= wanted else f"copies {dict(counts)}")

        return await until("all documents copied", is_so, within_s, every_s=1.0)

    def faults(self, asked: Sequence[Asked], *, crawled_again: bool = False) -> list[str]:
        """Return the faults that no scenario may cause: a wrong answer that claims to be exact, a page fetched twice,
        too many second looks."""
        wrong = judge.wrong_exact(asked, self.texts, self.complete_at)
        again = {} if crawled_again else judge.fetched_again(self.net)
        fetched = judge.fetches(self.net)
        many = [f"{fetched.second_looks} requests for second looks, {fetched.second_look_share:.1%}"]
        return [
            *wrong[:10],
            *(f"{url}: fetched at {times}" for url, times in list(again.items())[:10]),
            *(many if fetched.second_look_share > MOST_SECOND_LOOK_SHARE else []),
        ]


@dataclass
class _Differences:
    """True where there are none."""

    text: str

    def __bool__(self) -> bool:
        return not self.text

    def __repr__(self) -> str:
        return self.text


@asynccontextmanager
async def planned(
    folder: Path,
    seed: int,
    kinds: Sequence[tuple[int, ...]] = NINE,
    contacts: Sequence[int] = (2, 4),
    delay_s: float = 0.015,
    **fields: Any,
) -> AsyncIterator[Village]:
    """Machines n1 … of these families, with a web, on which no node is installed yet. `contacts`: who stand in the
    network file; `fields`: of its strategy."""
    async with Internet(folder, seed) as net:
        hosts = [net.host(f"n{number}", families) for number, families in enumerate(kinds, 1)]
        net.link(delay_s=delay_s, jitter_s=delay_s / 5)
        await net.serve_web()
        await net.found([hosts[number] for number in contacts], **fields)
        yield Village(net, hosts)


@asynccontextmanager
async def formed(
    folder: Path, seed: int, kinds: Sequence[tuple[int, ...]] = NINE, **plan: Any
) -> AsyncIterator[Village]:
    """A village that has one view."""
    async with planned(folder, seed, kinds, **plan) as village:
        await village.form()
        yield village


@asynccontextmanager
async def crawled(
    folder: Path, seed: int, kinds: Sequence[tuple[int, ...]] = NINE, **plan: Any
) -> AsyncIterator[Village]:
    """A village that has crawled its web."""
    async with formed(folder, seed, kinds, **plan) as village:
        await village.crawl()
        yield village
