"""Writes a report as one HTML file: the words and plots of `web_report.html` in the style of a node's pages, no
scripts, nothing from anywhere else.

Pure, but for its template and style sheet. All that strangers chose (URLs, sites, languages) is text here, and no link.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files

import jinja2
from markupsafe import Markup

from node.extras.web_report.degrees import Distribution, Ratio
from node.extras.web_report.page_life import PageLife
from node.extras.web_report.report import WebReport
from node.extras.web_report.svg_plot import Point, bars, log_log
from node.views.safe_text import plain
from node.views.status import size

SHOWN_LANGUAGES, SHOWN_STEPS = 15, 40
SHOWN_SITES = 200  # of a list
LONGEST_URL = 120  # characters of one in a table; the JSON has it whole
SURE = 0.05  # p below which a ratio of likelihoods says something


def html_page(report: WebReport) -> str:
    """Return the page of a report."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("node.extras.web_report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters.update(
        size=size, number="{:,}".format, figure=figure, share=share, shown=shown, against=against, law=law_plot
    )
    style = (files("node.web") / "static" / "style.css").read_text()
    return templates.get_template("web_report.html").render(
        report=report,
        style=Markup(style),
        made=datetime.fromtimestamp(report.coverage.made_at, UTC).strftime("%Y-%m-%d %H:%M"),
        bow_tie=bow_tie(report),
        alive=alive(report.life),
        shown_sites=SHOWN_SITES,
        languages=_counted([(name or "unknown", n) for name, n in report.languages], SHOWN_LANGUAGES, "languages"),
        sizes=_counted([(f"below {size(most)}", n) for most, n in report.text.sizes], 64, "sizes of texts"),
        steps=_counted([(f"{far}", n) for far, n in enumerate(report.distances.steps, 1)], SHOWN_STEPS, "distances"),
    )


def figure(value: float) -> str:
    """Write a number to three digits."""
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.3g}"


def share(part: float, whole: float = 1) -> str:
    """Write a part of a whole in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def shown(text: str) -> str:
    """Return what a stranger wrote, as one short line."""
    return plain(text, LONGEST_URL) + ("…" if len(text) > LONGEST_URL else "") or "(not found)"


def against(ratio: Ratio, other: str) -> str:
    """Say what a comparison of likelihoods says."""
    if ratio.p > SURE or not ratio.ratio:
        return f"{other}: undecided (p = {ratio.p:.2g})"
    word = "power law is likelier" if ratio.ratio > 0 else f"{other} is likelier"
    return f"{other}: {word} (ratio {ratio.ratio:+.1f}, p = {ratio.p:.1g})"


def law_plot(found: Distribution, across: str) -> Markup:
    """Draw the share of those that are at least as large, and the law where one was fitted."""
    about = f"share of those with at least so many, by {across}"
    if found.law:
        about += f"; from {found.law.least} on a line of exponent {found.law.exponent:.2f}"
    return log_log(found.points, _line(found), across, "share with at least as many", about)


def _line(found: Distribution) -> Sequence[Point]:
    """The law as a line through where its tail begins: shares of a power law fall with its exponent less one."""
    law = found.law
    if law is None:
        return ()
    begin = sum(count >= law.least for count, _ in found.points)
    first = found.points[-begin][1]
    at = [law.least * (found.largest / law.least) ** (step / 20) for step in range(21)]
    return [(x, first * (x / law.least) ** (1 - law.exponent)) for x in at]


def bow_tie(report: WebReport) -> Markup:
    """Draw how many pages are in which part."""
    parts = report.parts
    named = [
        ("leads to the core (IN)", parts.to_core),
        ("core", parts.core),
        ("led to by it (OUT)", parts.from_core),
        ("tubes", parts.tubes),
        ("tendrils", parts.tendrils),
        ("apart", parts.apart),
    ]
    rows = [(name, count, f"{count:,} ({share(count, report.pages)})") for name, count in named]
    return bars(rows, "pages by part of the bow-tie")


def alive(life: PageLife) -> Markup:
    """Draw the share of pages that are alive at each age."""
    rows = [(f"day {each.days}", each.share, f"{share(each.share)} ({each.watched:,})") for each in life.alive]
    return bars(rows, "share of pages alive, by age")


def _counted(rows: Sequence[tuple[str, int]], most: int, about: str) -> Markup:
    first = [(plain(name, 40), count, f"{count:,}") for name, count in rows[:most]]
    rest = sum(count for _, count in rows[most:])
    return bars([*first, *([("others", rest, f"{rest:,}")] if rest else [])], about)
