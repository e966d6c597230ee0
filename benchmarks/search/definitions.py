"""Asks for definitions, and looks whether the page on top defines what was asked for.

`definitions.txt` has the questions. Each line names where the right pages begin, without `http://`; a dash stands for a
question that no page of these webs answers. A question is asked where the web has a right page."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out
from benchmarks.search.goals import DEFINED_SHOWN, DEFINED_WRONGLY
from benchmarks.search.one_node import one_node
from benchmarks.search.web_pages import WebPage, read_web

QUESTIONS = Path(__file__).with_suffix(".txt")
NOBODY = ("-",)


class Asked(NamedTuple):
    """A question, and where the addresses of the pages begin that answer it."""

    text: str
    right: tuple[str, ...]

    def is_right(self, url: str) -> bool:
        """Tell whether a page answers it."""
        return url.removeprefix("http://").startswith(self.right)


def rows(extent: Extent) -> list[Row]:
    """Return the rows of definitions."""
    if extent.web is None:
        return [left_out("questions with a right definition", "needs --web DIR")]
    pages = read_web(extent.web)
    asked = [
        each for each in read_questions() if each.right == NOBODY or any(each.is_right(page.url) for page in pages)
    ]
    asked = asked[: extent.most(len(asked))]
    found = asyncio.run(_definitions(pages, asked, extent.engine))
    told = [(each, url) for each, url in zip(asked, found, strict=True) if each.right != NOBODY]
    right = [float(each.is_right(url)) for each, url in told]
    wrong = [float(bool(url) and not each.is_right(url)) for each, url in zip(asked, found, strict=True)]
    return [
        figure(f"questions with a right definition ({len(right)})", right, "share", goal=DEFINED_SHOWN),
        figure(
            f"questions with a wrong definition ({len(wrong)})", wrong, "share", goal=DEFINED_WRONGLY, at_least=False
        ),
    ]


def read_questions() -> list[Asked]:
    """Return all questions."""
    lines = (line for line in QUESTIONS.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return [Asked(text, tuple(right.split())) for text, _, right in (line.partition("\t") for line in lines)]


async def _definitions(pages: Sequence[WebPage], asked: Sequence[Asked], engine: str) -> list[str]:
    """Return the address of each definition, "" for none."""
    async with one_node([page.text for page in pages], engine) as node:
        found = [(await node.ask(each.text))["definition"] for each in asked]
    return [each["url"] if each else "" for each in found]
