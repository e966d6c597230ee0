"""A web listener over a small node that answers like a real one, and a plain HTTP client for it."""

import asyncio
import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from aiohttp import web_app

from crawl import CrawlConfig, UrlStatus, exclusion
from dht import BadStrategy, Endpoint, Identity, Key, PeerTimeout, Slot, Strategy, placement_key, shards
from index import QueryError, SearchRequest
from node.api.body import Json
from node.api.crawl import Crawled, Explained, Followed, Removed, UrlProgress
from node.api.documents import BroughtPage, StoredDocument
from node.api.evidence import Accused
from node.api.operation import Begun, LeaveProgress, ScrubProgress
from node.api.peers import ComingStep, Peer
from node.api.status import Status
from node.api.strategy import Preview, StrategyLog
from node.captures.capture import Capture, Lifetime, UnreadPart
from node.captures.network_reader import ArchivePart, ReadBounds
from node.captures.scope import Wish, scope_of
from node.config.data_dir import DataDir
from node.config.settings import NodeConfig
from node.errors import NotProved
from node.jobs.explain_verdict import Facts, verdict
from node.owner.member_page import Order, chosen_members
from node.web.server import WebServer
from store import NoReadyOwner
from tests.node.bodies import filled
from tests.node.web.owner_desk import FakeMembers, FakeOwner, FakeSites, FakeSlots

TOKEN = "a-token-of-the-tests-0123456789abcdef"
OWN, MEMBER = Identity(b"o" * 32), Identity(b"m" * 32)  # the node, and another member of its network
NODE_ID = "c0ffee0123456789c0ffee0123456789c0ffee01"

PAGES: dict[str, Json] = {
    "http://docs.python.test/3/tutorial/appetite.html": {
        "url": "http://docs.python.test/3/tutorial/appetite.html",
        "title": "1. Whetting Your Appetite — Python 3 documentation",
        "language": "en",
        "text": "If you do much work on computers, eventually you find that there is some task to automate.",
        "fetched_at": 1_795_000_000.0,
        "status": 200,
        "media_type": "text/html",
        "charset": "utf-8",
        "content": b"<html><script>alert(1)</script><h1>Whetting Your Appetite</h1></html>",
    },
    "http://zh.debian.test/手册/第一章?版=3": {
        "url": "http://zh.debian.test/手册/第一章?版=3",
        "title": "Debian 参考手册：第一章 入门",
        "language": "zh",
        "text": "计算机系统的初学者应当从本章开始阅读，以便理解自由软件操作系统的基本概念。",
        "fetched_at": 1_795_100_000.0,
        "status": 200,
        "media_type": "text/html",
        "charset": "gb18030",
        "content": "<h1>第一章</h1>".encode("gb18030"),
    },
    "http://evil.test/": {
        "url": "http://evil.test/",
        "title": "<script>alert('title')</script>\u202egnirts\x1b[31m",
        "language": '"><script>',
        "text": "<img src=x onerror=alert(1)> & <b>task</b> text",
        "fetched_at": "yesterday",
        "status": 200,
        "media_type": "image/svg+xml",
        "charset": "utf-8\r\nX-Bad: 1",
        "content": b"<svg onload=alert(1)>",
    },
}

FACETS = {
    "site": [{"name": "python.test", "count": 1200}, {"name": "<b>.test:8080", "count": 3}],
    "language": [{"name": "en", "count": 1203}],
    "year": [{"name": "2024", "count": 7}, {"name": "2023", "count": 5}],
}


class Unforeseen(Exception):
    """Stands for a bug."""


@dataclass
class FakeSearch:
    """A search whose best results come once the others were told, where its node holds any back."""

    service: "FakeService"
    question: SearchRequest
    was_told: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self) -> Json:
        answer = await self.service.search(self.question)
        if self.service.held_back:
            await self.was_told.wait()
        return answer

    async def so_far(self) -> Json | None:
        self.was_told.set()
        answer = await FakeService(answered=240).search(self.question)
        return answer | {"results": answer["results"][self.service.held_back :]}


@dataclass
class FakeService:
    """A node with three pages. Queries that begin with '!' go wrong in the way that their name says."""

    answered: int = 256
    total: int | None = None
    why: list[Json] = field(default_factory=list)
    asked: list[SearchRequest] = field(default_factory=list)
    versions: list[Capture] = field(default_factory=list)  # former ones of PAGES, or of others
    unread: bool = False  # that a part of the archive is
    unread_slot: int | None = 7
    lifetimes: list[Lifetime] = field(default_factory=list)  # of the archive's pages
    fails_at: int = 0  # which reading of the archive ends with an error
    effect: Json = field(default_factory=dict)  # of a draft's effect: who stays, who is lost
    in_force: Json = field(default_factory=dict)  # fields of its strategy
    published: list[bytes] = field(default_factory=list)  # strategies
    scrubs: int = 0  # begun
    scrubbed: int = 0  # looks at it since
    forgets: int = 0  # scrubs, as who starts anew before anything was read
    most_pages: int = 1000  # in one reading of it
    brought: list[tuple[str, list[str], bool, bool]] = field(default_factory=list)
    takes_in_vain: int = 0  # how often pages that are brought are not taken yet
    wishes: list[tuple[Wish, Key, int, bool]] = field(default_factory=list)
    seeds: list[tuple[Sequence[str], int]] = field(default_factory=list)
    orders: list[tuple[str, tuple[str, ...], bool]] = field(default_factory=list)
    paces: list[str] = field(default_factory=list)  # of those orders
    left_out: list[Sequence[str]] = field(default_factory=list)  # by those orders
    looks: int = 0
    broken: list[Json] = field(default_factory=list)
    needs: list[Json] = field(default_factory=list)
    is_paused: bool = False
    waits: bool = False  # for members that do not answer
    alone: Begun = field(default_factory=lambda: Begun(2, "", "only the node that breaks ties goes on alone", False))
    left: int = 0
    warned: list[str] = field(default_factory=list)
    ready: int = 60
    collected: int | None = 1204  # documents of the network
    is_counted: bool = False  # one by one
    role: str = "member"
    denied: str = ""  # why the rules let nobody fetch any URL
    known: Json | None = field(  # of every URL
        default_factory=lambda: {"state": "fetched", "visited_at": 1.0, "due_at": 1e10, "depth": 1, "scope": "a.test"}
    )
    accused: list[str] = field(default_factory=list)  # domains that contradict a node
    numbers: Json = field(default_factory=lambda: {"body": 3.5, "title": 9.0})  # that explain a score
    hits: list[Json] | None = None  # what is found, whatever is asked
    definition: Json | None = None  # whatever is asked
    related: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)  # whose removal files
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    owner: FakeOwner = field(default_factory=FakeOwner)
    members: FakeMembers = field(default_factory=FakeMembers)
    sites: FakeSites = field(default_factory=FakeSites)
    slots: FakeSlots = field(default_factory=FakeSlots)
    name_of_other: str = ""  # of the other member
    full_in_days: float | None = None  # the disk
    held_back: int = 0  # results that come after the first 400 ms

    def begin(self, question: SearchRequest, caller: str = "") -> "FakeSearch":
        return FakeSearch(self, question)

    async def search(self, question: SearchRequest, caller: str = "") -> Json:
        self.asked.append(question)
        query, language = question.text, question.language
        corrected = {} if question.is_verbatim else {"zebar": "<zebra> crossing", "tsak": "task"}
        query = corrected.get(query, query)
        if query.startswith('"') and query.count('"') == 1:
            raise QueryError(0, "the phrase that begins here has no closing quotation mark")
        if query == "!wait":
            await self.gate.wait()
        if query == "!refused":
            raise NoReadyOwner(3)
        if query == "!bug":
            raise Unforeseen("secret path /home/operator")
        hits = [
            _hit(page, query, self.numbers if question.explain else {})
            for page in PAGES.values()
            if query in page["text"] + page["title"]
        ]
        hits = hits if self.hits is None else self.hits
        slots = {"slots": 256, "answered": self.answered, "peers_asked": 4, "peers_answered": 4, "late": []}
        return {
            "query": question.text,
            "took_ms": 34.6,
            "exact": self.answered == 256 and not self.why,
            "whole": self.answered == 256,
            "partial": self.answered < 256,
            "why": self.why,
            "coverage": slots,
            "total": 1234 if query == "task" else len(hits) if self.total is None else self.total,
            "total_is": "exact",
            "results": [hit for hit in hits if not language or hit["language"] == language][: question.limit],
            "definition": self.definition,
            "related": self.related,
            "suggestions": ["zebra <finch>"] if question.text == "zebar" else [],
            "corrections": [query] if query != question.text else [],
            "alternatives": [{"typed": question.text, "used": query, "kind": "correction", "pages": 9}]
            if query != question.text
            else [],
            "facets": FACETS if question.facets and not question.cursor else {},
            "facets_cut": ["year"],
            "readings": [{"read_as": "option", "piece": query}] if query.startswith("-") else [],
            "next_cursor": "bmV4dA" if query == "task" and not question.cursor else None,
        }

    async def suggest(self, typed: str) -> list[str]:
        return [f"{typed}k", f"<{typed}>"]

    async def status(self) -> Status:
        return filled(
            Status,
            {
                "node_id": NODE_ID,
                "version": "0.1.0",
                "network": {"name": "home", "documents": self.collected, "exact": self.is_counted},
                "peers": {"ipv4": 4, "ipv6": 3},
                "members": 5,
                "role": self.role,
                "slots": {"owned": 61, "ready": self.ready, "leased": 17},
                "documents": min(812, self.collected or 0),
                "settled": False,
                "alike": True,
                "faults": self.broken,
                "needs": self.needs,
                "leaving": {"slots": 3 - self.left} if self.left else None,
                "under_replicated": 0,
                "crawl": {
                    "state": "paused" if self.is_paused or self.waits else "crawling",
                    "paused_by_owner": self.is_paused,
                    "reason": "waiting for politeness at 3 sites",
                    "frontier": 312 * bool(self.collected),
                    "due": 500,
                    "fetched": 900,
                    "per_s": 7.25,
                },
                "strategy": {
                    "version": 3,
                    "expires_at": 1_827_000_000,
                    "warnings": ["the next version is 3 days late"],
                },
                "disk": {"used": 512_000_000, "quota": 10_000_000_000, "full_in_days": self.full_in_days},
                "scrub": self.look_at_scrub().plain(),
            },
        )

    async def member_keys(self) -> list[bytes]:
        return [MEMBER.public_key, bytes(32)]

    async def peers(self, find: str = "", order: Order | None = None) -> list[Peer]:
        mine = {"node_id": NODE_ID, "live": True, "families": [4, 6]}
        other = {"node_id": "ab" * 20, "live": False, "families": [6]}
        told = [
            filled(Peer, {**mine, "strategy_version": 3, "ready": 60, "leased": 17, "last_heard_s": 0.0}),
            filled(Peer, {**other, "strategy_version": 2, "ready": 2, "leased": 0, "last_heard_s": 44.0}),
        ]
        told[0].endpoints = [Endpoint("127.0.0.1", 8091, 8091), Endpoint("::1", 8091, 8091)]
        told[1].endpoints = [Endpoint("::1", 9000, 9000)]
        told[1].coming_step = ComingStep(1, 1_795_269_600)
        told[1].name = self.name_of_other
        return chosen_members(told, find, order)

    async def strategy_log(self) -> StrategyLog:
        return filled(StrategyLog, {"versions": [{"version": 3, "digest": "ef" * 32, "forks": ["aa" * 32]}]})

    async def preview_strategy(self, document: bytes) -> Preview:
        if document == b"{}":
            raise BadStrategy("network", "is missing", "draft from the newest")
        return filled(Preview, {"parts": {"all": 256, "changed": 12}, **self.effect})

    async def strategy(self, which: str = "") -> Json:
        fields = {"network": "ab" * 20, "version": 3, "effective_at": 1, "expires_at": 2, "next_at": 2}
        strategy = Strategy(**fields | {"publishers": ("cd" * 32,)} | self.in_force)
        about = {"digest": "ef" * 32, "signed_by": ["cd" * 32], "warnings": ["the next version is 3 days late"]}
        return {**msgspec.to_builtins(strategy), "not_understood": [], **about}

    async def document(self, urls: Sequence[str], *, local: bool = False) -> list[StoredDocument | Json | None]:
        found = [PAGES.get(url) for url in urls]
        known = [{k: v for k, v in page.items() if k != "content"} if page else None for page in found]
        return [filled(StoredDocument, page) if page and page["language"].isalpha() else page for page in known]

    async def archive(self, wish: Wish, start: Key, bounds: ReadBounds, *, content: bool) -> ArchivePart:
        self.wishes.append((wish, start, bounds.pages, content))
        if len(self.wishes) == self.fails_at:
            raise PeerTimeout("a peer", 1.0)
        bounds = replace(bounds, pages=min(bounds.pages, self.most_pages))
        scope = scope_of(wish, 8, lambda url: [placement_key(url)], lambda site: shards(site)[:1])
        pages = [page for url, page in PAGES.items() if scope.accepts(url) and isinstance(page["fetched_at"], float)]
        has_formers = wish.all_versions or wish.at is not None
        others = (made for made in self.versions if has_formers or made.url not in PAGES)
        captures = [made for made in others if scope.accepts(made.url) and placement_key(made.url) >= start]
        captures += [capture(page) for page in pages if placement_key(page["url"]) >= start]
        if wish.at is not None:
            captures = _as_of(captures, wish.at)
        captures.sort(key=lambda made: placement_key(made.url))
        rest = captures[bounds.pages :]
        more = placement_key(rest[0].url) if rest else None
        unread = [UnreadPart(Slot(7), "nobody is there")] if wish.slot == self.unread_slot or self.unread else []
        return ArchivePart(captures[: bounds.pages], Counter(noarchive=1), unread, more, self.lifetimes)

    async def take_pages(
        self, captures: Sequence[Capture], file: str, *, dry_run: bool, crawl: bool
    ) -> Sequence[BroughtPage]:
        """A page is what its address says; nothing more of it is known here."""
        self.brought.append((file, [each.url for each in captures], dry_run, crawl))
        if self.takes_in_vain:
            self.takes_in_vain -= 1
            return [BroughtPage("later", "the network rests")] * len(captures)
        states = ("known", "older", "refused")
        return [BroughtPage(next((s for s in states if s in each.url), "taken"), each.url[-3:]) for each in captures]

    async def snapshot(self, url: str) -> Capture | None:
        page = PAGES.get(url)
        return capture(page) if page else None

    async def crawl(
        self,
        urls: Sequence[str],
        *,
        depth: int,
        scope: str = "whole",
        sitemaps: Sequence[str] = (),
        dry_run: bool = False,
        every: str = "",
        exclude: Sequence[str] = (),
    ) -> Crawled:
        exclusion(exclude)
        self.left_out.append(exclude)
        if not dry_run:
            self.seeds.append((urls, depth))
        self.orders.append((scope, tuple(sitemaps), dry_run))
        self.paces.append(every)
        taken = [url for url in (*urls, *sitemaps) if url.startswith("http")]
        seeds = [
            {"url": u, "scope": "a.test", "sitemap": u in sitemaps, "known": "fetched" if "old" in u else ""}
            for u in taken
        ]
        refused = [{"url": url, "reason": "not an http or https address"} for url in urls if not url.startswith("http")]
        waits = "taken, and waits for 1a2b" if any("few-copies" in url for url in taken) else ""
        told = {"accepted": len(taken), "refused": refused, "seeds": seeds, "waits": waits, "dry_run": dry_run}
        return filled(Crawled, told)

    async def remove(self, url: str, *, is_check: bool = False) -> Removed:
        if is_check:
            self.checked.append(url)
        if "bad" in url:
            raise NotProved(url, "no file names it" + ": refused by 10.0.0.7" * is_check, "put one there")
        return Removed("a.test", "/private/", [url])

    async def progress(self, asked: Sequence[Followed]) -> list[UrlProgress]:
        """The first look finds everything waiting, the next one done; what has depth left leads to one page more."""
        self.looks += 1
        if self.looks == 1:
            return [UrlProgress(each.url, "waiting", "", []) for each in asked]
        found = [[Followed(f"{each.url}x", each.depth - 1)] if each.depth else [] for each in asked]
        states = ["failed" if "bad" in each.url else "fetched" for each in asked]
        return [
            UrlProgress(each.url, state, "status 500" if state == "failed" else "", links)
            for each, state, links in zip(asked, states, found, strict=True)
        ]

    async def evidence(self, *, fetches: bool) -> Accused:
        again = dict.fromkeys(self.accused, "unlike") if fetches else {}
        piece = {"site": "a.test", "document": "cd" * 20, "written_at": 0.0, "looks": [600, 1200], "finder": NODE_ID}
        author = {"node_id": "ab" * 20, "domains": self.accused, "counts": len(self.accused) > 2, "no_votes_until": 0.0}
        found = {**author, "again": again, "confirmed": len(again) > 2, "pieces": [piece]}
        return filled(Accused, {"domains_needed": 3, "authors": [found] if self.accused else []})

    async def explain(self, url: str) -> Explained:
        if "bad" in url:
            return Explained(url, None, "no", "not a URL\x1b[31m")
        if self.known is None:
            answer, why = verdict(Facts(self.denied, None, "this node", True, UrlStatus(), False), now=0.0)
            return Explained(url, url, answer, why, known=None)
        return Explained(
            url=url,
            canonical=url,
            answer="later",
            why="fetched 2 days ago; due again in 5 days",
            changed=[],
            placement={"slot": 3, "of": 256, "spread": 4},
            rule={"allowed": True, "strategy_version": 3, "min_delay_s": 1.0, "max_depth": 2, "preferred": None},
            owners=[{"node_id": "ab" * 20, "live": True, "ready": False}, {"node_id": NODE_ID, "self": True}],
            holder={"node_id": "ab" * 20, "self": False, "answered": True},
            known=self.known,
            crawler={"stand": "later", "ahead": 0, "robots": "allowed", "crawl_delay_s": 5.0},
        )

    def warnings(self) -> list[str]:
        return self.warned

    def pause(self, paused: bool, for_s: float | None = None) -> str:
        self.is_paused, self.paused_for_s = paused, for_s
        return "paused by its operator" if paused else ""

    async def begin_alone(self, *, is_sure: bool) -> Begun:
        refusal = "" if self.published else self.alone.refusal
        begun = is_sure and bool(self.alone.silent) and not refusal
        return msgspec.structs.replace(self.alone, refusal=refusal, begun=begun)

    def leave(self, *, at_once: bool, is_sure: bool) -> LeaveProgress:
        """Each look finds a slot less; the third one finds the end."""
        self.left = 3 if is_sure else self.left + (not at_once)
        state = ("here", "leaving", "leaving", "gone")[self.left]
        silent = ["ab" * 20] if self.left == 1 else []
        return LeaveProgress(state, 3 - self.left, 1204, 7 * at_once, silent)

    def scrub(self) -> ScrubProgress:
        """Asked again it goes on as it is."""
        self.scrubs += self.scrubs == 0
        return self.scrub_state()

    def look_at_scrub(self) -> ScrubProgress:
        """Every look finds it further, once it was begun."""
        if self.scrubs and self.forgets:
            self.scrubs, self.forgets = 0, self.forgets - 1
        self.scrubbed += self.scrubs > 0
        return self.scrub_state()

    def scrub_state(self) -> ScrubProgress:
        share, is_read, is_healed = min(1.0, self.scrubbed / 2), self.scrubbed > 1, self.scrubbed > 2
        figures = {"read_records": 1000 * self.scrubbed, "damaged": 3 * is_read, "came_back": 3 * is_healed}
        instants = {
            "begun_at": 1_700_000_000,
            "asked_at": self.scrubs * 1_700_000_000,
            "read_at": 1_700_000_600 * is_read,
        }
        return filled(ScrubProgress, {"share": share, "open": 3 * (is_read and not is_healed), **figures, **instants})

    async def publish_strategy(self, document: bytes) -> Json:
        if b"signatures" not in document:
            raise BadStrategy("signatures", "1 of 2 that are needed", "let another publisher sign it")
        self.published.append(document)
        return {**await self.strategy(), "version": 4, "adopted": True}


def _as_of(captures: Sequence[Capture], at: float) -> list[Capture]:
    """The newest version of each page up to an instant, else its oldest one."""
    found: dict[str, Capture] = {}
    for made in sorted(captures, key=lambda made: made.captured_at):
        if made.captured_at <= at or made.url not in found:
            found[made.url] = made
    return list(found.values())


def capture(page: Json) -> Capture:
    headers = (("Content-Type", page["media_type"]), ("Content-Encoding", "gzip"))
    digest = sha256(page["content"]).digest()
    about = {name: page[name] for name in ("status", "content", "media_type", "charset", "title", "text", "language")}
    at = page["fetched_at"] if isinstance(page["fetched_at"], float) else 0.0
    return Capture(page["url"], at, headers=headers, content_digest=digest, **about)


def _hit(page: Json, query: str, numbers: Json) -> Json:
    at = page["text"].find(query)
    return {
        "url": page["url"],
        "title": page["title"],
        "heading": "Why <Python>",
        "snippet": page["text"],
        "highlights": [[at, at + len(query)]] if at >= 0 else [],
        "score": 12.5,
        "language": page["language"],
        "fetched_at": page["fetched_at"],
        "id": "00" * 20,
        "replicas": 3,
        "site_more": 4,
        "date": 0.0,
        "images": [],
        "origin": "",
        "similar": ["http://mirror.test/appetite.html"],
        "similar_count": 1,
        "pinned": False,
        **({"explain": numbers} if numbers else {}),
    }


class Reply(NamedTuple):
    """One answer of the listener."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Site:
    """A running listener: ask it with `get` and `send`."""

    service: FakeService
    port: int
    loop: asyncio.AbstractEventLoop

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, **headers)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): text for name, text in headers.items()})
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): text for name, text in answer.getheaders()}, answer.read())
        finally:
            connection.close()


Start = Callable[..., Site]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start listeners on free ports, each in a thread with its own loop; all are stopped at the end."""
    stops: list[Callable[[], None]] = []

    def started(**settings: Any) -> Site:
        site, stop = _start(NodeConfig(web_port=0, **settings), DataDir(tmp_path))
        stops.append(stop)
        return site

    yield started
    for stop in stops:
        stop()


@pytest.fixture
def site(start: Start) -> Site:
    return start()


def _start(config: NodeConfig, data: DataDir) -> tuple[Site, Callable[[], None]]:
    loop = asyncio.new_event_loop()
    service = FakeService()
    crawl = CrawlConfig(info_url="https://example.org/bot")
    server = WebServer(service, config, crawl, TOKEN, "0.1.0", OWN, "campus", data)
    task = loop.create_task(server.run())
    thread = threading.Thread(target=loop.run_until_complete, args=(_until_cancelled(task),), daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.listening.wait(), loop).result(10)

    def stop() -> None:
        loop.call_soon_threadsafe(service.gate.set)
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)
        assert not thread.is_alive()
        loop.close()
        web_app._cached_build_middleware.cache_clear()  # it would keep the last 1,024 servers with all that they hold

    return Site(service, int(server.url.rpartition(":")[2]), loop), stop


async def _until_cancelled(task: "asyncio.Task[None]") -> None:
    await asyncio.wait([task])


@pytest.fixture
def token() -> str:
    return TOKEN
