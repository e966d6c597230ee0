"""Draws figures over the size of a network as one SVG: a panel a figure, both scales logarithmic.

Pure: series in, text out.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT, LEFT, TOP = 520, 150, 80, 34
COLOURS = ("#1b6ca8", "#c0392b", "#2e7d32", "#8e44ad")
Line = Sequence[tuple[float, float]]


def draw(panels: Mapping[str, Mapping[str, Line]], title: str) -> str:
    """Return the SVG of all panels, one below the other; all values are above 0."""
    parts = [
        _panel(name, lines, TOP + number * (HEIGHT + 2 * TOP)) for number, (name, lines) in enumerate(panels.items())
    ]
    height = len(panels) * (HEIGHT + 2 * TOP) + TOP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + LEFT + 20} {height}" '
        f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _panel(name: str, lines: Mapping[str, Line], top: float) -> str:
    points = [point for line in lines.values() for point in line]
    across, up = _powers(x for x, _ in points), _powers(y for _, y in points)

    def place(x: float, y: float) -> str:
        left = LEFT + WIDTH * (log10(x) - across[0]) / (across[1] - across[0])
        return f"{left:.1f},{top + HEIGHT * (1 - (log10(y) - up[0]) / (up[1] - up[0])):.1f}"

    parts = [f'<text x="{LEFT}" y="{top - 18:.0f}" font-weight="bold">{escape(name)}</text>']
    for power in range(across[0], across[1] + 1):
        x, y = place(10.0**power, 10.0 ** up[0]).split(",")
        parts.append(f'<path d="M{x},{top}V{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{float(y) + 14:.0f}" text-anchor="middle">{10**power:,}</text>')
    for power in range(up[0], up[1] + 1):
        x, y = place(10.0 ** across[0], 10.0**power).split(",")
        parts.append(f'<path d="M{x},{y}H{LEFT + WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{float(y) + 4:.0f}" text-anchor="end">{10.0**power:,.7g}</text>')
    for number, (line_name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(place(x, y) for x, y in line)
        parts.append(f'<polyline fill="none" stroke-width="2" stroke="{colour}" points="{path}"/>')
        parts.append(f'<text x="{LEFT + 170 * number}" y="{top - 4:.0f}" fill="{colour}">{escape(line_name)}</text>')
    return "".join(parts)


def _powers(values: Iterable[float]) -> tuple[int, int]:
    found = [log10(value) for value in values]
    low, high = floor(min(found)), ceil(max(found))
    return low, max(high, low + 1)
