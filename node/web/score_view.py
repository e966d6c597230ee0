"""Writes why a result stands where it does, as lines, from the numbers of /api/v1/search?explain=true.

Pure: plain data in, text out. Tolerant: an explanation of another shape is shown as indented JSON.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from node.views.safe_text import plain

MAX_LEAVES = 64
MAX_LINES = 1_000  # of an explanation of another shape


def explained(value: Any) -> str:
    """Write an explanation as lines; an empty string where there is none."""
    if not value:
        return ""
    try:
        return "\n".join(_lines(value))
    except (KeyError, TypeError, ValueError, AttributeError):
        lines = msgspec.json.format(msgspec.json.encode(value), indent=2).decode().split("\n")
        return "\n".join(map(plain, lines[:MAX_LINES]))


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
