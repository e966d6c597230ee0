"""Draws figures over time as one SVG: a panel a figure, a line a node.

Pure: series in, text out.
"""

from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.soak.growth import Point

WIDTH, HEIGHT, LEFT, TOP = 720, 150, 70, 26
COLOURS = ("#1b6ca8", "#c0392b", "#2e7d32", "#8e44ad", "#b9770e", "#455a64", "#00838f")


def draw(series: Mapping[str, Mapping[str, Sequence[Point]]], title: str) -> str:
    """Return the SVG of all figures, one below the other."""
    panels = [_panel(figure, nodes, TOP + n * (HEIGHT + 2 * TOP)) for n, (figure, nodes) in enumerate(series.items())]
    height = TOP + len(panels) * (HEIGHT + 2 * TOP)
    names = list(dict.fromkeys(node for nodes in series.values() for node in nodes))
    legend = "".join(
        f'<text x="{LEFT + 110 * n}" y="14" fill="{_colour(n)}">{escape(name)}</text>' for n, name in enumerate(names)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + LEFT + 20}" height="{height}" '
        f'font-family="sans-serif" font-size="12"><title>{escape(title)}</title>'
        f'<rect width="100%" height="100%" fill="white"/>{legend}{"".join(panels)}</svg>\n'
    )


def _panel(figure: str, nodes: Mapping[str, Sequence[Point]], top: float) -> str:
    points = [point for line in nodes.values() for point in line]
    last_s, most = max((x for x, _ in points), default=1.0) or 1.0, max((y for _, y in points), default=1.0) or 1.0
    lines = "".join(
        f'<polyline fill="none" stroke="{_colour(n)}" points="{_places(line, last_s, most, top)}"/>'
        for n, line in enumerate(nodes.values())
    )
    bottom = top + HEIGHT
    return (
        f'<text x="{LEFT}" y="{top - 4:.0f}">{escape(figure)}</text>'
        f'<rect x="{LEFT}" y="{top:.0f}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>'
        f'<text x="4" y="{top + 10:.0f}">{most:,.0f}</text><text x="4" y="{bottom:.0f}">0</text>'
        f'<text x="{LEFT + WIDTH - 60}" y="{bottom + 14:.0f}">{last_s / 3600:.2f} h</text>{lines}'
    )


def _places(line: Sequence[Point], last_s: float, most: float, top: float) -> str:
    return " ".join(f"{LEFT + WIDTH * x / last_s:.1f},{top + HEIGHT * (1 - y / most):.1f}" for x, y in line)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
