"""Runs Scrapy as a program: `python -m benchmarks.crawl.spider ORDER.json`. Writes its processor time to ORDER's
`report`.

An order: {seeds, hosts: {name: address}, delay_s, agent, follow, sink, index, report, settings}. With `follow` each
page is parsed with selectolax, its links are followed and its text is fingerprinted. All of it goes into one zstd file.
Without it the seeds are only fetched. With `index`, a directory, each page is read as a node reads it, and what it says
goes into an index such as a node's there.
"""

import codecs
import hashlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import ada_url
import msgspec
import scrapy
import zstandard
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response
from scrapy.resolver import dnscache
from selectolax.lexbor import LexborHTMLParser

from crawl import CrawlConfig
from crawl.content.extract import extract
from crawl.content.fingerprint import fingerprint, signature
from crawl.content.page import ParseTask
from dht import document_id, placement_key
from index import DocumentChange, IndexConfig, Text
from index.engine.index_files import IndexFiles

HIDDEN = "script,style,noscript,template"
MAX_LINKS = 1_000  # of a page, as ours
COMMIT_PAGES = 1_000  # a commit of the index costs as much whatever its size
SETTINGS: dict[str, Any] = {
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 256,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,  # as ours
    "RANDOMIZE_DOWNLOAD_DELAY": False,
    "DOWNLOAD_DELAY_JITTER": 0,
    "DEPTH_PRIORITY": 0,
    "LOG_ENABLED": False,
    "LOGSTATS_INTERVAL": 0,
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
    "DOWNLOADER_STATS": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "REFERER_ENABLED": False,
    "RETRY_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "AUTOTHROTTLE_ENABLED": False,
    "WARN_ON_GENERATOR_RETURN_VALUE": False,
    "DOWNLOADER_MIDDLEWARES": dict.fromkeys(
        (
            "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
            "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
            "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware",
        )
    ),
    "SPIDER_MIDDLEWARES": dict.fromkeys(
        (
            "scrapy.spidermiddlewares.referer.RefererMiddleware",
            "scrapy.spidermiddlewares.depth.DepthMiddleware",
            "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
        )
    ),
}


class BenchSpider(scrapy.Spider):
    """Fetches what the order names, and what its pages link to."""

    name = "pages"

    def __init__(self, order: dict[str, Any]) -> None:
        super().__init__()
        self._order, self._hosts = order, frozenset(order["hosts"])
        self._seen: set[str] = set()
        self._sink = None if order["sink"] is None else zstandard.open(order["sink"], "wb")
        self._began: os.times_result | None = None

    async def start(self) -> AsyncIterator[scrapy.Request]:
        self._began = os.times()
        for url in self._order["seeds"]:
            self._seen.add(url)
            yield scrapy.Request(url, dont_filter=True)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        kind, _, rest = (response.headers.get("Content-Type") or b"").decode().partition(";")
        if not self._order["follow"] or kind != "text/html":
            return
        for url in self._read(response, rest):
            if url not in self._seen:
                self._seen.add(url)
                if url[7:].partition("/")[0].partition(":")[0] in self._hosts:
                    yield scrapy.Request(url, dont_filter=True)

    def _read(self, response: Response, parameters: str) -> list[str]:
        """Keep what a page says; return where it leads."""
        tree = LexborHTMLParser(response.body.decode(_charset(parameters), "replace"))
        found: dict[str, None] = {}
        given = tree.css_first("base[href]")
        base = ada_url.join_url(response.url, given.attributes.get("href") or "") if given else response.url
        for node in tree.css("a[href],area[href]")[: 2 * MAX_LINKS]:
            values = node.attributes
            if "nofollow" not in (values.get("rel") or ""):
                try:
                    url = ada_url.join_url(base, values.get("href") or "").partition("#")[0]
                except ValueError:
                    continue
                if url.startswith("http://") and len(found) < MAX_LINKS:
                    found[url] = None
        title = tree.css_first("title")
        for node in tree.css(HIDDEN):
            node.decompose()
        text = " ".join(tree.body.text(separator=" ").split()) if tree.body else ""
        name = title.text() if title else ""
        self._keep(response, name, text, list(found), fingerprint(name, text, text), signature(text))
        return list(found)

    def closed(self, reason: str) -> None:
        """Write what all this took, from the first request on."""
        if self._sink is not None:
            self._sink.close()
        now, began = os.times(), self._began
        assert began is not None
        Path(self._order["report"]).write_text(json.dumps({"cpu_s": sum(now[:4]) - sum(began[:4]), "why": reason}))

    def _keep(self, response: Response, *said: object) -> None:
        assert self._sink is not None
        head = response.url, response.status, dict(response.headers.to_unicode_dict())
        self._sink.write(msgspec.msgpack.encode((*head, *said, response.body)))


class EqualSpider(BenchSpider):
    """Does with each page what a node does: reads it likewise, and indexes it."""

    def __init__(self, order: dict[str, Any]) -> None:
        super().__init__(order)
        self._index, self._changes = IndexFiles(IndexConfig(), Path(order["index"])), list[DocumentChange]()

    def closed(self, reason: str) -> None:
        self._index.apply(self._changes, b"")
        super().closed(reason)
        self._index.close()

    def _read(self, response: Response, parameters: str) -> list[str]:
        limits = CrawlConfig()
        charset = parameters.partition("charset=")[2].strip().strip('"')
        given = response.url, response.body, "text/html", charset, limits.max_links, limits.max_text_chars
        found = extract(ParseTask(*given, agent=self._order["agent"]))
        digest, now = hashlib.sha256(response.body).digest(), time.time()
        text = Text(
            document_id(response.url),
            placement_key(response.url),
            digest,
            response.url,
            found.title,
            found.headings,
            found.text,
            found.language,
            now,
            found.boilerplate,
            signature=found.signature,
            written_at=now,
        )
        self._changes.append(DocumentChange(text.id, text, now))
        if len(self._changes) == COMMIT_PAGES:
            self._index.apply(self._changes, b"")
            self._changes.clear()
        links = [link.url for link in found.links if not link.nofollow]
        self._keep(response, found.title, found.text, found.boilerplate, links, found.fingerprint, found.signature)
        return links


def _charset(parameters: str) -> str:
    name = parameters.partition("charset=")[2].strip().strip('"') or "utf-8"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "utf-8"


def main() -> None:
    """Crawl what an order asks for."""
    order = json.loads(Path(sys.argv[1]).read_text())
    for host, address in order["hosts"].items():
        dnscache[host] = address
    process = AsyncCrawlerProcess(
        settings=SETTINGS | {"USER_AGENT": order["agent"], "DOWNLOAD_DELAY": order["delay_s"]} | order["settings"]
    )
    process.crawl(EqualSpider if order["index"] else BenchSpider, order=order)
    process.start()


if __name__ == "__main__":
    main()
