"""The piece of a page that shows best why it was found.

Pure: text in, text and offsets out. White space is closed up; an ellipsis stands where the page goes on.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from index.query.parser import Leaf, Term
from index.text.analyzer import tokens

LOOKED_CHARS = 60_000  # of a body: what stands later is rarely what a page is about
LOOKED_TOKENS = 8_000
_SPACE = re.compile(r"\s+")
_EDGE = 24  # characters before the first highlight of a window


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a page as plain text, not HTML; `highlights` are [start, end) offsets into it, ascending, apart from
    each other.
    """

    text: str
    highlights: tuple[tuple[int, int], ...]


def terms_of(leaves: Iterable[Leaf]) -> frozenset[str]:
    """Return all terms that deserve a highlight."""
    return frozenset(term for leaf in leaves for term in ((leaf.term,) if isinstance(leaf, Term) else leaf.terms))


def make_snippet(texts: Sequence[str], wanted: Set[str], chars: int) -> Snippet:
    """Cut a window from the first of these texts that holds any wanted term, else the beginning of the first text."""
    found = (_cut_out(text, wanted, chars) for text in texts if text and chars > 0)
    first = next(found, Snippet("", ()))
    return first if first.highlights else next((other for other in found if other.highlights), first)


def _cut_out(body: str, wanted: Set[str], chars: int) -> Snippet:
    """The window of about `chars` characters with most different wanted terms, then most of them, then the first."""
    found = tokens(body[:LOOKED_CHARS], LOOKED_TOKENS, wanted)
    marks = [(token.start, token.end, token.term) for token in found]
    start = _best_start(marks, chars)
    start, end = _widen(body, start, chars)
    inside = [(a, b) for a, b, _ in marks if a >= start and b <= end]
    return _close_up(body, start, end, _join(inside))


def _best_start(marks: Sequence[tuple[int, int, str]], chars: int) -> int:
    best, best_start, last = (0, 0), 0, 0
    inside: Counter[str] = Counter()
    for start, _, term in marks:
        while last < len(marks) and marks[last][1] <= max(start - _EDGE, 0) + chars:
            inside[marks[last][2]] += 1
            last += 1
        value = (sum(count > 0 for count in inside.values()), inside.total())
        if value > best:
            best, best_start = value, start
        inside[term] -= 1  # the next window begins after this mark
    return max(best_start - _EDGE, 0)


def _widen(body: str, start: int, chars: int) -> tuple[int, int]:
    """The window moved to borders of words where they are near."""
    start = min(start, max(len(body) - chars, 0))
    end = min(start + chars, len(body))
    if start and (space := _SPACE.search(body, start, start + _EDGE)):
        start = space.end()
    if end < len(body):
        end = _last_space(body, end - _EDGE, end) or end
    return start, end


def _last_space(body: str, start: int, end: int) -> int:
    return max((found.start() for found in _SPACE.finditer(body, max(start, 0), end)), default=0)


def _join(marks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in marks:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _close_up(body: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> Snippet:
    text = "…" if start else ""
    highlights = []
    at = start
    for a, b in marks:
        text += _SPACE.sub(" ", body[at:a])
        piece = _SPACE.sub(" ", body[a:b])
        highlights.append((len(text), len(text) + len(piece)))
        text += piece
        at = b
    text += _SPACE.sub(" ", body[at:end])
    return Snippet(text.rstrip() + ("…" if end < len(body) else ""), tuple(highlights))
