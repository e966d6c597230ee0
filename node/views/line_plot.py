"""Draws a figure over time as SVG that stands in a page as it is: no scripts, no fonts, colours of the style sheet.

Pure. Texts are escaped here; all else is numbers.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import floor, isfinite, log10
from sys import float_info

from markupsafe import Markup

WIDTH, HEIGHT = 320, 100
TOP, BOTTOM = 14, 16  # rooms for the highest figure above, and for the instants below
POINTS = 160  # on a line at most, two units of the width each

Series = Sequence[tuple[float, float]]


def line_plot(
    lines: Sequence[Series],
    since: float,
    until: float,
    figure: Callable[[float], str],
    about: str,
    ends: tuple[str, str],
    *,
    least: bool = False,
) -> Markup:
    """Draw lines from `since` to `until` on one scale that begins at 0. Each point stands for all values near it, and
    shows the largest of them, or the `least`. `figure` writes a value, `about` says in words what is to be seen, `ends`
    names both instants."""
    drawn = [_thinned(line, since, until, min if least else max) for line in lines]
    top = nice_top(max((value for line in drawn for _, value in line), default=0.0))
    base = HEIGHT - BOTTOM
    parts = [
        f'<path class="grid" d="M0,{base}H{WIDTH}M0,{TOP}H{WIDTH}"/>',
        f'<text x="0" y="{TOP - 4}">{escape(figure(top))}</text>',
        f'<text x="0" y="{HEIGHT - 4}">{escape(ends[0])}</text>',
        f'<text x="{WIDTH}" y="{HEIGHT - 4}" text-anchor="end">{escape(ends[1])}</text>',
    ]
    for number, line in enumerate(drawn):
        if path := _path(line, top, base):
            parts.append(f'<path class="line line{number}" d="{path}"/>')
    head = f'<svg class="figure-plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(about)}">'
    return Markup("".join([head, *parts, "</svg>"]))


def nice_top(most: float) -> float:
    """Return a round number that is not below a value: 1, 2 or 5 times a power of ten."""
    if not most >= float_info.min or not isfinite(most):  # of less there is no power of ten
        return 1.0
    power = 10.0 ** floor(log10(most))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= most * (1 - 1e-9))


def _thinned(
    line: Series, since: float, until: float, pick: Callable[[Iterable[float]], float]
) -> list[tuple[int, float]]:
    """Return a value for each place that has any, by place; places of one point each are 0 … POINTS - 1."""
    places: dict[int, list[float]] = {}
    for at, value in line:
        if since <= at <= until and isfinite(value):
            place = int((at - since) / max(until - since, 1e-9) * (POINTS - 1) + 0.5)
            places.setdefault(place, []).append(max(0.0, value))
    return [(place, pick(values)) for place, values in sorted(places.items())]


def _path(line: Sequence[tuple[int, float]], top: float, base: int) -> str:
    """Write the path of a line; where places are missing it is broken, and a lone point is a short stroke."""
    step, words, last = WIDTH / (POINTS - 1), list[str](), -9
    for place, value in line:
        y = base - min(value / top, 1.0) * (base - TOP)
        words.append(f"{'L' if place - last <= 2 else 'M'}{place * step:.0f},{y:.1f}")
        if words[-1].startswith("M"):
            words.append("h1")
        last = place
    return "".join(words)
