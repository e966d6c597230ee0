"""Puts the figures of a node into plots with words: what the owner's pages show, in the reader's language.

Pure: values in, markup out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from markupsafe import Markup

from node.owner.figure_history import SPAN_S, Series, Span
from node.owner.network_map import NetworkMap
from node.views.line_plot import line_plot
from node.views.ring_plot import DrawnRing, ring_plot
from node.views.status import size
from node.web.rendering.translations import Translate

_LEAST = frozenset({"peers", "copies"})  # of which a low is what matters


@dataclass(frozen=True, slots=True)
class FigurePlot:
    """Holds a plot with its name and the newest value of each of its lines, as it is written."""

    name: str
    now: str
    plot: Markup


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


# the first three stand alone until an owner opens the others
_PLOTS: tuple[tuple[str, tuple[str, ...], Callable[[float], str]], ...] = (
    ("pages_per_s", ("pages_per_s",), _count),
    ("queries_per_min", ("queries_per_min",), _count),
    ("disk_bytes", ("disk_bytes",), size),
    ("latency", ("p50_ms", "p95_ms"), _count),
    ("traffic", ("in_bytes_s", "out_bytes_s"), size),
    ("fetch_latency", ("fetch_p50_ms", "fetch_p95_ms"), _count),
    ("answers", ("answers_2xx", "answers_3xx"), _count),
    ("no_answers", ("answers_4xx", "answers_5xx", "answers_failed"), _count),
    ("dns_ms", ("dns_ms",), _count),
    ("connections", ("connections",), _count),
    ("unread", ("unread",), _count),
    ("peers", ("peers",), _count),
    ("copies", ("copies",), _count),
    ("too_few", ("too_few",), _count),
    ("repair", ("copying", "owed"), _count),
)


def figure_plots(known: Mapping[str, Series], span: Span, now: float, t: Translate) -> list[FigurePlot]:
    """Return all plots of a span that ends at `now` (Unix seconds). `known`: the figures by name."""
    shown = []
    for name, columns, figure in _PLOTS:
        lines = [known[column] for column in columns]
        ends, title = (t(f"owner.{span}_ago"), t("owner.now")), t(f"owner.{name}")
        about = _about(lines, title, t(f"owner.{span}"), figure, t)
        since = now - SPAN_S[span]
        plot = line_plot(lines, since, now, figure, about, ends, least=name in _LEAST)
        newest = [figure(values[-1]) for values in map(_known, lines) if values]
        shown.append(FigurePlot(title, " · ".join(newest) or t("owner.unknown"), plot))
    return shown


def network_ring(found: NetworkMap, t: Translate) -> Markup:
    """Return the key space as rings: nodes, copies, crawl, and what is this node's."""
    rings = (
        DrawnRing("node", 6, tuple(map(int, found.nodes))),
        DrawnRing("copies", 16, tuple(copies + 1 for copies in found.copies)),
        DrawnRing("crawl", 10, tuple(1 if crawled else 2 for crawled in found.crawled)),
        DrawnRing("mine", 16, found.mine),
    )
    middle = (f"{found.live:,} {t('network.nodes')}", f"{found.slots:,} {t('network.slots')}")
    return ring_plot(rings, middle, t("network.ring.about", slots=f"{found.slots:,}"))


def _known(line: Series) -> list[float]:
    return [value for _, value in line if isfinite(value)]


def _about(lines: Sequence[Series], name: str, span: str, figure: Callable[[float], str], t: Translate) -> str:
    """Say in words what a plot shows, of its first line."""
    known = _known(lines[0])
    if not known:
        return t("owner.plot.empty", name=name)
    now, least, most = figure(known[-1]), figure(min(known)), figure(max(known))
    return t("owner.plot.about", name=name, span=span, now=now, least=least, most=most)
