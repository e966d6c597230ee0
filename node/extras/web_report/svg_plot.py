"""Draws plots as SVG that stands in a page as it is: no scripts, no fonts, colours of the page's style sheet.

Pure. Texts are escaped here; all else is numbers.
"""

from collections.abc import Sequence
from html import escape
from math import ceil, log10

from markupsafe import Markup

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 28, 12, 44  # margins
ROW, NAME, FIGURE = 24, 150, 150  # of a bar: height, and room for its name and its figure
LONGEST_NAME = 22  # characters that fit

Point = tuple[float, float]


def log_log(points: Sequence[Point], line: Sequence[Point], across: str, up: str, about: str) -> Markup:
    """Draw points, and a line through some, on two logarithmic scales; all values are above 0. `across` and `up` name
    the scales, `about` says in words what is to be seen."""
    if not points:
        return Markup("")
    right = max(1, ceil(log10(max(x for x, _ in points))))
    low = min(-1, -ceil(-log10(min(y for _, y in points))))
    x_at = _Scale(0, right, LEFT, WIDTH - RIGHT)
    y_at = _Scale(low, 0, HEIGHT - BOTTOM, TOP)
    parts = [_grid_x(right, x_at), _grid_y(low, y_at)]
    parts += [f'<circle cx="{x_at(x):.1f}" cy="{y_at(y):.1f}" r="2.6"/>' for x, y in points]
    seen = [(x, y) for x, y in line if y >= 10.0**low]
    if len(seen) > 1:
        path = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in seen)
        parts.append(f'<polyline points="{path}"/>')
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(across)}</text>'
    )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="rotate(-90 14 {middle})"'
    parts.append(f'<text x="14" y="{middle}" text-anchor="middle" {turned}>{escape(up)}</text>')
    return _svg(HEIGHT, about, parts)


def bars(rows: Sequence[tuple[str, float, str]], about: str) -> Markup:
    """Draw a bar for each row: its name, its length (0 or more), and its figure as it is written."""
    if not rows:
        return Markup("")
    most = max(value for _, value, _ in rows) or 1.0
    parts = list[str]()
    for number, (name, value, figure) in enumerate(rows):
        y, length = number * ROW, value / most * (WIDTH - NAME - FIGURE)
        shown = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
        parts.append(f'<text x="{NAME - 8}" y="{y + 16}" text-anchor="end">{escape(shown)}</text>')
        parts.append(f'<rect x="{NAME}" y="{y + 4}" width="{length:.1f}" height="{ROW - 8}"/>')
        parts.append(f'<text x="{NAME + length + 6:.1f}" y="{y + 16}">{escape(figure)}</text>')
    return _svg(len(rows) * ROW, about, parts)


class _Scale:
    """Maps powers of ten to places of a plot."""

    def __init__(self, first: float, last: float, begin: float, end: float) -> None:
        self._first, self._begin = first, begin
        self._step = (end - begin) / (last - first)

    def __call__(self, value: float) -> float:
        return self.of_power(log10(value))

    def of_power(self, power: float) -> float:
        return self._begin + (power - self._first) * self._step


def _grid_x(right: int, at: _Scale) -> str:
    lines = list[str]()
    for power in range(right + 1):
        x = at.of_power(power)
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        lines.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{10**power:,}</text>')
    return "".join(lines)


def _grid_y(low: int, at: _Scale) -> str:
    lines = list[str]()
    for power in range(low, 1, max(1, -low // 6)):
        y, share = at.of_power(power), f"{10.0 ** (power + 2):.{max(0, -power - 2)}f} %"
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{share}</text>')
    return "".join(lines)


def _svg(height: int, about: str, parts: Sequence[str]) -> Markup:
    head = f'<svg class="plot" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(about)}">'
    return Markup("".join([head, *parts, "</svg>"]))
