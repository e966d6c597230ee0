"""Tells why a result stands where it does, from the numbers of /api/v1/search?explain=true: for a sentence, a small
chart, and lines of all numbers.

Pure: plain data in, values out. Tolerant: an explanation of another shape is shown as indented JSON.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from node.views.safe_text import plain

MAX_LEAVES = 64
MAX_LINES = 1_000  # of an explanation of another shape
MAX_BARS = 6  # words in the chart, those that count most
MAX_BAR_NAME = 18  # characters
MEANT = 1.05  # what nearness multiplies a score by where it is worth a word


@dataclass(frozen=True, slots=True)
class Bar:
    """Holds a part of a score: a word, or "" for what words in title and site name add. `share`: of the greatest."""

    name: str
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class Why:
    """Holds where a score comes from. `found` of `asked` words are in the page; `best` is the one that counts most,
    which `holders` of all `documents` have."""

    lines: str
    found: int = 0
    asked: int = 0
    best: str = ""
    holders: int = 0
    documents: int = 0
    is_in_title: bool = False
    is_near: bool = False
    is_front: bool = False
    bars: tuple[Bar, ...] = ()


def why_of(value: Any) -> Why | None:
    """Read an explanation; None where there is none."""
    if not value:
        return None
    try:
        return _why(value, "\n".join(_lines(value)))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        lines = msgspec.json.format(msgspec.json.encode(value), indent=2).decode().split("\n")
        return Why("\n".join(map(plain, lines[:MAX_LINES])))


def _why(value: dict[str, Any], lines: str) -> Why:
    leaves = sorted(value["leaves"][:MAX_LEAVES], key=lambda leaf: -float(leaf["score"]))
    held = [leaf for leaf in leaves if float(leaf["score"]) > 0]
    parts = [(plain(leaf["leaf"], MAX_BAR_NAME), float(leaf["score"])) for leaf in held[:MAX_BARS]]
    parts += [("", float(value.get("rewards", 0.0)))] * (float(value.get("rewards", 0.0)) > 0)
    greatest = max((score for _, score in parts), default=0.0)
    return Why(
        lines,
        found=len(held),
        asked=len(leaves),
        best=plain(held[0]["leaf"], 100) if held else "",
        holders=int(held[0]["df"]) if held else 0,
        documents=int(value["documents"]),
        is_in_title=any(leaf["tf"].get("title") for leaf in held),
        is_near=float(value["proximity"]) > MEANT,
        is_front=value.get("is_front") is True,
        bars=tuple(Bar(name, score, score / greatest) for name, score in parts),
    )


def _lines(value: dict[str, Any]) -> Iterator[str]:
    score, words, nearness = (float(value[name]) for name in ("score", "bm25", "proximity"))
    rewards, coverage = float(value.get("rewards", 0.0)), float(value.get("coverage", 1.0))
    factors = f"having the words {coverage:.2f} × nearness {nearness:.2f}"
    yield f"score {score:.3f} = (words {words:.3f} + in title and site name {rewards:.3f}) × {factors}"
    for leaf in value["leaves"][:MAX_LEAVES]:
        yield f"  {plain(leaf['leaf'], 100)}: {float(leaf['score']):.3f}; {_where(leaf['tf'], value['weights'])}"
        yield f"    in {int(leaf['df']):,} of {int(value['documents']):,} pages, hence worth {float(leaf['idf']):.2f}"
    length, average = float(value["length"]), float(value["average_length"])
    if float(value.get("script", 1.0)) < 1:
        yield f"  its language has no Latin letters, and the question no others: × {float(value['script']):.2f}"
    if value.get("is_front"):
        yield "  it is the front page of its site, which counts where the address has a word"
    yield f"  this page is {length:,.0f} words long by these weights, the average is {average:,.0f}"


def _where(counts: dict[str, int], weights: dict[str, int]) -> str:
    found = [
        f"{plain(name, 20)} {int(count)}" + (f" (each counts {int(weights[name])})" if weights[name] != 1 else "")
        for name, count in counts.items()
        if count
    ]
    return ", ".join(found) or "not in this page"
