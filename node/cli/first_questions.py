"""Asks whoever makes a node at a terminal at most three questions, each with a default, and says what the answers cost.

`ask` prints a question and returns a line, so that the rest is text in, values out. Where no terminal
is, the owner is asked in a browser (`node/web/owner/welcome_page.py`). `init --yes` asks nobody: what a script types
stays the whole answer.
"""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from dht import DseError
from node.config.first_answers import FirstAnswers, limits_of, network_of, site_named
from node.errors import error_text
from node.views.status import size

Answer = TypeVar("Answer")
Ask = Callable[[str], str]
"""(question) → the line that was typed."""

TRIES = 3  # after which a wrong answer ends the command, as on its command line
PARSE_SHARE = 1 / 3  # of what a page costs one node, its fetch, index and store included: docs/crawl.md
SAMPLE_BYTES = 30_000  # of a page on average: docs/crawl.md
SAMPLE_PAGES = 20


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
