"""Asks for one form of a word where a page holds another: regular forms of twelve languages, irregular English ones.

`word_forms.txt` has the pairs. Each form stands alone on a page in its language; the query says nothing of a language,
as people do. A pair counts by the share of both directions in which one form finds the page of the other.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.figures import Row
from benchmarks.search.extent import Extent
from benchmarks.search.figure import figure
from benchmarks.search.goals import FORMS_MET, FORMS_MET_LANGUAGE, IRREGULAR_MET
from benchmarks.search.one_node import one_node
from dht import document_id, placement_key
from index import Text

IRREGULAR = "en-irregular"
LIMIT = 100  # results: a form may be a word of other languages, too
Pair = tuple[str, str]


def rows(extent: Extent) -> list[Row]:
    """Return a row for each language, and one for all."""
    pairs = word_pairs()
    found = asyncio.run(met({code: each[: extent.most(len(each))] for code, each in pairs.items()}, extent.engine))
    regular = [value for code, values in found.items() if code != IRREGULAR for value in values]
    out = [figure(f"regular word pairs that meet ({len(regular)})", regular, goal=FORMS_MET)]
    out += [
        figure(f"  {code} ({len(values)})", values, goal=IRREGULAR_MET if code == IRREGULAR else FORMS_MET_LANGUAGE)
        for code, values in found.items()
    ]
    return out


def word_pairs() -> dict[str, list[Pair]]:
    """Read the pairs by language."""
    out: dict[str, list[Pair]] = {}
    for line in Path(__file__).with_name("word_forms.txt").read_text("utf-8").splitlines():
        code, colon, pairs = line.partition(": ")
        if colon and not line.startswith("#"):
            out[code] = [(one, other) for one, _, other in (pair.partition("/") for pair in pairs.split())]
    return out


async def met(pairs: Mapping[str, Sequence[Pair]], engine: str) -> dict[str, list[float]]:
    """Return for each pair, by language, in what share of both directions it meets."""
    forms = sorted({(code.partition("-")[0], form) for code, each in pairs.items() for pair in each for form in pair})
    places = {form: place for place, form in enumerate(forms)}
    async with one_node([_page(place, *form) for place, form in enumerate(forms)], engine) as node:
        found = {form: set(await node.places(form, LIMIT)) for form in {form for _, form in forms}}
    out = {}
    for code, each in pairs.items():
        tag = code.partition("-")[0]
        out[code] = [
            ((places[tag, other] in found[one]) + (places[tag, one] in found[other])) / 2 for one, other in each
        ]
    return out


def _page(place: int, language: str, form: str) -> Text:
    url, body = f"http://{place:x}.invalid/", f"{form} 0{place}"  # two languages' equal words are no copies
    return Text(document_id(url), placement_key(url), place.to_bytes(32, "big"), url, "", (), body, language, 0.0)
