"""Draws the key space as rings of equal sectors, as SVG that stands in a page as it is.

Pure. A ring is one circle for each class of its sectors, dashed where they lie, so that a drawing stays small however
its sectors alternate. Texts are escaped here; all else is numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from markupsafe import Markup

SIZE = 320
OUTER, STEP = 150.0, 24.0  # radius of the first ring, and how much smaller each next one is


@dataclass(frozen=True, slots=True)
class DrawnRing:
    """Names a ring for the style sheet, says how broad it is, and gives the class of each sector; 0 is not drawn."""

    name: str
    width: float
    sectors: tuple[int, ...]


def ring_plot(rings: Sequence[DrawnRing], middle: Sequence[str], about: str) -> Markup:
    """Draw rings, the first outermost, all beginning at the top and clockwise. `middle`: lines of text inside; `about`
    says in words what is to be seen."""
    centre = SIZE / 2
    parts = [f'<g transform="rotate(-90 {centre} {centre})" fill="none">']
    for number, ring in enumerate(rings):
        radius = OUTER - number * STEP
        place = f'cx="{centre}" cy="{centre}" r="{radius}" stroke-width="{ring.width}"'
        parts.append(f'<circle class="track" {place}/>')
        for kind in sorted(set(ring.sectors) - {0}):
            dashes = dashes_of([sector == kind for sector in ring.sectors])
            length = f'pathLength="{len(ring.sectors)}" stroke-dasharray="{dashes}"'
            parts.append(f'<circle class="{ring.name}{kind}" {place} {length}/>')
    parts.append("</g>")
    for line, text in enumerate(middle):
        y = centre + (line - (len(middle) - 1) / 2) * 20 + 5
        parts.append(f'<text class="middle{line}" x="{centre}" y="{y:.0f}" text-anchor="middle">{escape(text)}</text>')
    head = f'<svg class="ring-plot" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{escape(about)}">'
    return Markup("".join([head, *parts, "</svg>"]))


def dashes_of(flags: Sequence[bool]) -> str:
    """Return a `stroke-dasharray` for SVG: dashes where flags are true, gaps where they are false. Their lengths add up
    to the number of flags."""
    runs = [(flag, sum(1 for _ in run)) for flag, run in groupby(flags)]
    lengths = [length for _, length in runs]
    if runs and not runs[0][0]:
        lengths = [0, *lengths]
    return " ".join(map(str, [*lengths, 0] if len(lengths) % 2 else lengths))
