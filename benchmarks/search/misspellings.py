"""Types words with one slip, and right words, and looks at what is offered as the right one."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure, left_out
from benchmarks.search.goals import CORRECTED_RIGHT, CORRECTED_WRONGLY
from benchmarks.search.one_node import one_node
from benchmarks.search.web_pages import WebPage, read_web

WORDS = 500
LEAST_CHARS = 5
LEAST_HOSTS = 3  # of a word that is misspelled: what one site alone writes may be its own invention
LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORD = re.compile(r"[^\W\d_]+")


def rows(extent: Extent) -> list[Row]:
    """Return the rows of misspelled and of right words."""
    if extent.web is None:
        return [left_out("misspelled words", "needs --web DIR")]
    pages, chance = read_web(extent.web), Random(1)
    hosts = hosts_of_words(pages)
    common = sorted(word for word, found in hosts.items() if len(found) >= LEAST_HOSTS)
    chosen = chance.sample(common, min(extent.most(WORDS), len(common)))
    slips = [(slip_of(word, hosts, chance), word) for word in chosen]
    right = chance.sample(sorted(hosts), min(extent.most(WORDS), len(hosts)))
    known = sorted({page.found.title for page in pages if page.found.title})
    titles = chance.sample(known, min(len(known), len(right)))
    return asyncio.run(_rows(pages, extent.engine, slips, right, titles))


async def _rows(
    pages: Sequence[WebPage], engine: str, slips: Sequence[tuple[str, str]], right: Sequence[str], titles: Sequence[str]
) -> list[Row]:
    async with one_node([page.text for page in pages], engine) as node:
        found = [float(first_correction(await node.ask(slip)) == word) for slip, word in slips]
        changed = [float(bool(first_correction(await node.ask(word)))) for word in right]
        spoilt = [float(bool(first_correction(await node.ask(title)))) for title in titles]
    return [
        figure(f"misspelled words, the right one first ({len(slips)})", found, goal=CORRECTED_RIGHT),
        figure("right words 'corrected', rare ones included", changed, goal=CORRECTED_WRONGLY, at_least=False),
        figure("titles 'corrected'", spoilt, goal=CORRECTED_WRONGLY, at_least=False),
    ]


def hosts_of_words(pages: Sequence[WebPage]) -> dict[str, frozenset[str]]:
    """Return on which hosts each word of Latin letters stands, in lower case."""
    found: dict[str, set[str]] = defaultdict(set)
    for page in pages:
        for word in _WORD.findall(f"{page.found.title}\n{page.found.text}".lower()):
            if len(word) >= LEAST_CHARS and word.isascii():
                found[word].add(page.host)
    return {word: frozenset(hosts) for word, hosts in found.items()}


def slip_of(word: str, known: Mapping[str, object], chance: Random) -> str:
    """Return a word with one letter left out, doubled or put in, changed or swapped with the next; no known word."""
    for _ in range(100):
        at, letter = chance.randrange(len(word)), chance.choice(LETTERS)
        swapped = word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
        made = (
            word[:at] + word[at + 1 :],
            word[:at] + letter + word[at:],
            word[:at] + letter + word[at + 1 :],
            swapped,
        )
        slip = chance.choice(made)
        if slip != word and slip not in known:
            return slip
    return word + chance.choice(LETTERS)


def first_correction(answer: Mapping[str, Any]) -> str:
    """Return the query that an answer offers first instead of the one typed, in lower case; "" where it offers none."""
    first = next(iter(answer.get("corrections", ())), "")
    return str(first.get("query", "") if isinstance(first, Mapping) else first).lower()
