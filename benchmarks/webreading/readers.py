"""The readers that are compared: ours, and three kept libraries, which are imported when they are asked for.

Each gets the bytes of a page and its address, and is timed with its own decoding and parsing.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from benchmarks.webreading.truth import TruePage, words_of_html
from crawl.content.extract import extract
from crawl.content.page import ParseResult, ParseTask

MAX_LINKS, MAX_CHARS = 1_000, 1_000_000
PEERS = {"trafilatura": "trafilatura", "readability-lxml": "readability"}  # module by package
DATE_PEER = "htmldate"
Given, Found = TypeVar("Given"), TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Timed(Generic[Found]):
    """The findings of one reader in several pages, and its CPU time."""

    found: list[Found]
    cpu_s: float


def ours(pages: Iterable[TruePage]) -> Timed[ParseResult]:
    """Read pages as the crawl does, everything about them."""
    tasks = [ParseTask(page.url, page.html, "text/html", "", MAX_LINKS, MAX_CHARS) for page in pages]
    return timed(extract, tasks)


def peer_texts(package: str, pages: Iterable[TruePage]) -> Timed[str] | None:
    """Return main texts by a library; None where it is not installed."""
    module = _module(PEERS[package])
    if module is None:
        return None
    return timed(_trafilatura(module) if package == "trafilatura" else _readability(module), pages)


def peer_days(pages: Iterable[TruePage]) -> Timed[date | None] | None:
    """Return publication dates by htmldate; None where it is not installed."""
    module = _module(DATE_PEER)
    if module is None:
        return None

    def day_of(page: TruePage) -> date | None:
        found = module.find_date(page.html, original_date=True, url=page.url)
        return date.fromisoformat(found) if found else None

    return timed(day_of, pages)


def timed(read: Callable[[Given], Found], given: Iterable[Given]) -> Timed[Found]:
    """Read each, and measure the CPU time of all."""
    began = time.process_time()
    found = [read(each) for each in given]
    return Timed(found, time.process_time() - began)


def _trafilatura(module: Any) -> Callable[[TruePage], str]:
    return lambda page: module.extract(page.html, include_comments=False) or ""


def _readability(module: Any) -> Callable[[TruePage], str]:
    def text_of(page: TruePage) -> str:
        with suppress(module.readability.Unparseable):
            return words_of_html(module.Document(page.html).summary())
        return ""

    return text_of


@cache
def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:  # it is not installed, or a part of it is not
        return None
