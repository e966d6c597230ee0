"""Tells why a result stands where it does, from the numbers of /api/v1/search?explain=true: for a sentence, a small
chart, and lines of all numbers.

Pure: plain data in, values out. Tolerant: an explanation of another shape is shown as indented JSON.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from markupsafe import Markup, escape

from node.views.safe_text import plain
from node.web.rendering.translations import Translate

MAX_LEAVES = 64
MAX_LINES = 1_000  # of an explanation of another shape
MAX_BARS = 4  # words in the chart, those that count most
MAX_BAR_NAME = 18  # characters
BAR_PX, LONGEST_PX = 20, 160  # of a bar with the space around it; of the longest one
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


def chart(why: Why, about: str, of_names: str) -> Markup:
    """Draw where a score comes from as bars, in SVG; nothing where that is unknown. `of_names`: how the bar is called
    that stands for words in title and site name."""
    if not why.bars:
        return Markup()
    bars = []
    for place, bar in enumerate(why.bars):
        y, width = BAR_PX * place, max(2, round(LONGEST_PX * bar.share))
        bars.append(
            f'<text x="128" y="{y + 14}">{escape(bar.name or of_names)}</text>'
            f'<rect x="136" y="{y + 4}" width="{width}"/>'
            f'<text x="{width + 142}" y="{y + 14}">{bar.score:.2f}</text>'
        )
    height = BAR_PX * len(bars)
    frame = f'class="chart" role="img" aria-label="{escape(about)}" viewBox="0 0 360 {height}" height="{height}"'
    return Markup(f"<svg {frame}>{''.join(bars)}</svg>")  # markupsafe's own format takes a third of a page's time


def sentence(why: Why, t: Translate) -> str:
    """Write why a result stands where it does as one sentence; "" where nothing is known of that."""
    if not why.asked:
        return ""
    one, all_ = why.asked == 1 and why.found == 1, why.found == why.asked
    kind = "because.one" if one else "because.all" if all_ else "because.some"
    parts = [t(kind, found=why.found, asked=why.asked)]
    if why.best:
        parts.append(t("because.best", best=why.best, holders=why.holders, documents=why.documents))
    said = {"because.title": why.is_in_title, "because.near": why.is_near, "because.front": why.is_front}
    return t("because.joint").join(parts + [t(key) for key, is_so in said.items() if is_so]) + t("because.end")


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
    if float(value.get("language", 1.0)) < 1:
        asker = plain(value.get("asker_language", ""), 8)
        yield f"  its language is another than the asker's ({asker}): × {float(value['language']):.2f}"
    if float(value.get("doubt", 1.0)) < 1:
        yield f"  it looks as if it were made to be found: × {float(value['doubt']):.2f}"
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
