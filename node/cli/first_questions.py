"""Asks whoever makes a node at a terminal at most three questions, each with a default, and says what the answers cost.

`ask` prints a question and returns a line, so that the rest is text in, values out. Nobody is asked where no terminal
is, or by `init --yes`: what a script types stays the whole answer.
"""

import asyncio
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from crawl import BadUrl, FetchHours, canonical_url
from dht import DseError
from node.errors import ConfigError, error_text
from node.views.status import size

Answer = TypeVar("Answer")
Ask = Callable[[str], str]
"""(question) → the line that was typed."""

TRIES = 3  # after which a wrong answer ends the command, as on its command line
PARSE_SHARE = 1 / 3  # of what a page costs one node, its fetch, index and store included: docs/crawl.md
SAMPLE_BYTES = 30_000  # of a page on average: docs/crawl.md
SAMPLE_PAGES = 20
_BYTES = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_AMOUNT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([kmgt]b)(/s)?", re.I)


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """Holds what was answered, as options of `init`: "" and () where the default was taken."""

    network: str = ""
    invitation: str = ""
    settings: tuple[str, ...] = ()
    site: str = ""


def first_answers(
    ask: Ask,
    costs: str,
    *,
    check_network: Callable[[str, str], object] | None,
    needs_limits: bool,
    needs_site: bool = True,
) -> FirstAnswers:
    """Ask what the command line left open, and check each answer at once; raises DseError where none can be used.
    `check_network`: raises DseError or OSError where a network and words are none; None: it is not asked for."""
    network, invitation, settings = "", "", tuple[str, ...]()
    if check_network:

        def read_network(text: str) -> tuple[str, str]:
            name, words = network_of(text)
            if name:
                check_network(name, words)
            return name, words

        about = "Which network do you want to join? Give its file or URL, and the invitation words if you have some"
        network, invitation = _asked(ask, f"{about}\n[a new private one] ", read_network)
    if needs_limits:
        about = "What may it use of disk, line and hours? For example: 50 GB, 500 kB/s, 22:00-07:00"
        settings = _asked(ask, f"{costs}\n{about}\n[20 GB, no limit, always] ", limits_of)
    question = "Which site should it crawl first? For example: https://www.example.org/\n[none] "
    site = _asked(ask, question, site_named) if needs_site else ""
    return FirstAnswers(network, invitation, settings, site)


def network_of(text: str) -> tuple[str, str]:
    """Return a network's file or URL, and the words of an invitation behind it."""
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise ConfigError(text, str(error).lower(), 'put a file\'s name in quotes, such as "my campus.toml"') from None
    return name, " ".join(words)


def site_named(text: str) -> str:
    """Return the address of a site, "" for none, with https:// where a person left it out."""
    if not text:
        return ""
    url = text if "://" in text else f"https://{text}"
    try:
        canonical_url(url)
        if not any(sign in urlsplit(url).netloc for sign in ".:") and urlsplit(url).hostname != "localhost":
            raise BadUrl(url, "its host has no dot")
    except BadUrl as error:
        raise ConfigError(text, f"is not a web address ({error.reason})", "try https://www.example.org/") from None
    return url


def limits_of(text: str) -> tuple[str, ...]:
    """Return settings for amounts between commas: bytes of disk, bytes a second, hours of the day."""
    settings, hours = list[str](), list[str]()
    for part in filter(None, map(str.strip, text.split(","))):
        if amount := _AMOUNT.fullmatch(part):
            count = int(float(amount[1]) * _BYTES[amount[2].lower()])
            settings.append(f"{'crawl.max_bytes_s' if amount[3] else 'store.quota_bytes'}={count}")
        else:
            hours.append(part)
    if hours:
        try:
            FetchHours.parse(", ".join(hours))
        except ValueError as error:
            remedy = "write disk, line and hours, such as 50 GB, 500 kB/s, 22:00-07:00"
            raise ConfigError(", ".join(hours), f"is not a size, rate or time range: {error}", remedy) from None
        settings.append(f'crawl.hours="{", ".join(hours)}"')
    return tuple(settings)


def _asked(ask: Ask, question: str, read: Callable[[str], Answer]) -> Answer:
    """Ask until the answer can be read, but a few times at most."""
    for tries_left in reversed(range(TRIES)):
        try:
            return read(ask(question).strip())
        except (DseError, OSError) as error:
            if not tries_left:
                raise
            prompt = question.rpartition("\n")[2]
            question = f"{error_text(error)}\n{prompt}"
    raise AssertionError("the last try returns or raises")


def costs_here(root: Path) -> str:
    """Say what a node costs on this machine: by its free disk, and by reading some pages, which takes half a second."""
    there = next(folder for folder in (root, *root.parents) if folder.exists())
    free, page_s = shutil.disk_usage(there).free, _page_s()
    share = f"{page_s / PARSE_SHARE * 1000:.0f} ms of one core"
    return f"Measured here: {size(free)} free at {there}; each page takes about {share}."


def _page_s() -> float:
    """Measure the CPU seconds in which this machine reads a page of usual size."""
    from crawl import InlineParsers, ParseTask  # who is asked nothing need not load them

    body = b"<title>t</title>" + b"".join(_paragraphs())
    task, parsers = ParseTask("http://a.example/", body, "text/html", "utf-8", 1000, 1_000_000), InlineParsers()

    async def read() -> float:
        await parsers.parse(task)  # the first one loads what all need
        began = time.process_time()
        for _ in range(SAMPLE_PAGES):
            await parsers.parse(task)
        return (time.process_time() - began) / SAMPLE_PAGES

    try:
        return asyncio.run(read())
    finally:
        parsers.close()


def _paragraphs() -> Iterable[bytes]:
    text = "words of a page, so many that they fill a line or two of what people see there "
    count = SAMPLE_BYTES // (len(text) * 3)
    return (f'<p><a href="/{number}">{number}</a> {text * 3}</p>'.encode() for number in range(count))
