"""Puts copies of real pages on other hosts, each changed a little, and looks whether answers show both.

Five kinds: another menu, a line with a date, a suffix of the title, one word of 300, and equal bytes. Folded wrongly is
a page that an answer hides behind another one though their main texts differ. Another 100 pairs are alike but for a
number or a word of their titles, by which they are asked for: none of these may be folded.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks.figures import Row, row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out
from benchmarks.search.goals import FOLDED_APART, FOLDED_RIGHT, FOLDED_WRONGLY
from benchmarks.search.known_rules import title_targets
from benchmarks.search.one_node import OneNode, one_node
from benchmarks.search.web_pages import WebPage, read_page, read_web

PAGES = 60  # of each kind
TOLD_APART = 100  # pairs that differ in what is asked
LEAST_CHARS = 600  # of a main text: copies of less are not worth telling
LIMIT = 20  # results of an answer
ALIKE = 0.8  # of all runs of SHINGLE words two texts share, at least, that are near copies
SHINGLE = 4
MENU = b"<nav><ul>%b</ul></nav>" % b"".join(b'<li><a href="/m%d">Menu entry %d</a></li>' % (n, n) for n in range(12))
DATE = b"<p>Last updated: 2026-11-22 08:15</p>"
_BODY, _BODY_END = re.compile(rb"<body[^>]*>", re.I), re.compile(rb"</body>", re.I)
_TITLE, _HEADING_END = re.compile(rb"<title[^>]*>[^<]{4,}", re.I), re.compile(rb"</h1\s*>", re.I)
_TITLE_END, _TEXT = re.compile(rb"</title\s*>", re.I), re.compile(rb">([^<>]{40,})<")


@dataclass(frozen=True, slots=True)
class Copied:
    """A page and its changed copy, as places in the list of all pages."""

    kind: str
    original: int
    copy: int


def rows(extent: Extent) -> list[Row]:
    """Return the rows of all kinds, and of what is folded wrongly."""
    if extent.web is None:
        return [left_out("near-duplicates", "needs --web DIR")]
    pages, copies = with_copies(read_web(extent.web), extent.most(PAGES), Random(1))
    return asyncio.run(_rows(pages, copies, extent))


async def _rows(pages: Sequence[WebPage], copies: Sequence[Copied], extent: Extent) -> list[Row]:
    folded: dict[str, list[float]] = {kind: [] for kind in CHANGES}
    hidden: set[frozenset[str]] = set()
    async with one_node([page.text for page in pages], extent.engine) as node:
        for each in copies:
            answer = await _answer(node, pages[each.original])
            hidden |= _folded_pairs(answer)
            verdict = _is_folded(answer, {pages[each.original].url, pages[each.copy].url})
            if verdict is not None:
                folded[each.kind].append(float(verdict))
        for page in pages[: extent.most(len(pages))]:
            hidden |= _folded_pairs(await _answer(node, page))
    apart = await _told_apart(pages, extent)
    by_url = {page.url: page for page in pages}
    wrong = [float(not are_alike(*(by_url[url] for url in pair))) for pair in sorted(map(sorted, hidden))]
    every = [value for values in folded.values() for value in values]
    return [
        *(figure(f"folded: {kind} ({len(found)} pairs)", found, goal=FOLDED_RIGHT) for kind, found in folded.items()),
        figure("folded: all kinds", every, goal=FOLDED_RIGHT),
        figure(f"folded wrongly, of {len(wrong)} pairs", wrong, goal=FOLDED_WRONGLY, at_least=False)
        if wrong
        else row("folded wrongly", [0.0], "", goal=FOLDED_WRONGLY),
        apart,
    ]


async def _answer(node: OneNode, page: WebPage) -> Mapping[str, Any]:
    """Ask for a page by its title and words of its text, so that it and its copies are among the first."""
    return await node.ask(f"{page.found.title} {' '.join(page.found.text.split()[:12])}"[:300], LIMIT)


async def _told_apart(pages: Sequence[WebPage], extent: Extent) -> Row:
    """Ask for each page of pairs that differ in a number or a word of the title: how many answers show one alone."""
    pairs = told_apart(pages, extent.most(TOLD_APART), Random(2))
    hidden, seen = [], 0
    async with one_node([page.text for pair in pairs for page in pair], extent.engine) as node:
        for one, other in pairs:
            answers = [await node.ask(page.found.title, LIMIT) for page in (one, other)]
            folded = [_is_folded(answer, {one.url, other.url}) for answer in answers]
            seen += None not in folded
            hidden.append(float(any(folded)))
    what = f"folded, of {len(pairs)} pairs that differ in what is asked ({seen} shown together)"
    return figure(what, hidden, goal=FOLDED_APART, at_least=False)


def told_apart(pages: Sequence[WebPage], most: int, chance: Random) -> list[tuple[WebPage, WebPage]]:
    """Return pairs of pages made of real ones: title and first heading differ in a number, or in a word; every other
    pair is of two hosts."""
    fit = [page for page in pages if len(page.found.text) >= LEAST_CHARS and _TITLE.search(page.html)]
    out = []
    for number, page in enumerate(chance.sample(fit, min(most, len(fit)))):
        names = (f"3.{number}.1", f"3.{number}.2") if number % 2 else ("Functions", "Operators")
        hosts = (f"apart{number}.test", f"apart{number}{'b' if number % 4 > 1 else ''}.test")
        made = [
            read_page(f"http://{host}/{place}.html", _named(page.html, name.encode()))
            for place, (host, name) in enumerate(zip(hosts, names, strict=True))
        ]
        out.append((made[0], made[1]))
    return out


def _named(html: bytes, name: bytes) -> bytes:
    """Write a name at the end of a page's title and of its first heading."""
    return _HEADING_END.sub(b" " + name + rb"\g<0>", _TITLE_END.sub(b" " + name + rb"\g<0>", html, count=1), count=1)


def _folded_pairs(answer: Mapping[str, Any]) -> set[frozenset[str]]:
    return {frozenset((each["url"], other)) for each in answer["results"] for other in each["similar"]}


def _is_folded(answer: Mapping[str, Any], pair: set[str]) -> bool | None:
    """Tell whether two pages are one result; None where the answer does not hold both."""
    groups = [{each["url"], *each["similar"]} & pair for each in answer["results"]]
    if set().union(*groups) != pair:
        return None
    return pair in groups


def with_copies(pages: Sequence[WebPage], most: int, chance: Random) -> tuple[list[WebPage], list[Copied]]:
    """Return all pages and after them a copy of some, one kind of change each."""
    targets = title_targets(pages)
    fit = [n for n, page in enumerate(pages) if len(page.found.text) >= LEAST_CHARS and len(targets[n]) == 1]
    chosen, out, copies = chance.sample(fit, min(len(fit), most * len(CHANGES))), list(pages), []
    for number, place in enumerate(chosen):
        kind, page = list(CHANGES)[number % len(CHANGES)], pages[place]
        html = CHANGES[kind](page.html)
        path = page.url.split("/", 3)[3]
        copies.append(Copied(kind, place, len(out)))
        out.append(read_page(f"http://copy{number}.test/{path}", html))
    return out, copies


def are_alike(one: WebPage, other: WebPage) -> bool:
    """Tell whether two main texts are near copies, by the runs of words that they share (Broder 1997)."""
    a, b = _shingles(one.found.text), _shingles(other.found.text)
    return len(a & b) >= ALIKE * len(a | b)


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|\w+", text.lower())
    return {tuple(words[at : at + SHINGLE]) for at in range(max(len(words) - SHINGLE + 1, 1))}


def _one_word_of_300(html: bytes) -> bytes:
    """Change a word in each stretch of some 300 words of text."""
    count = 0

    def change(found: re.Match[bytes]) -> bytes:
        nonlocal count
        words = found.group(1).split(b" ")
        for at in range(len(words)):
            count += 1
            if count % 300 == 20:
                words[at] = b"otherwise"
        return b">" + b" ".join(words) + b"<"

    return _TEXT.sub(change, html)


CHANGES = {
    "another menu": lambda html: _BODY.sub(lambda found: found.group() + MENU, html, count=1),
    "a date line": lambda html: _BODY_END.sub(DATE + b"</body>", html, count=1),
    "title suffix": lambda html: _TITLE_END.sub(b" | Mirror</title>", html, count=1),
    "one word of 300": _one_word_of_300,
    "equal bytes": lambda html: html,
}
