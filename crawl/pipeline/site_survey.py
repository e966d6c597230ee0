"""Sums up what is known of whole sites: pages stored, the last visit, how often they change, what fails.

Pure: visits by site in, figures out. It goes over all URLs of the held slots: for people. The frontier knows these
visits already, so no other index of sites is kept.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import Literal, get_args

from crawl.schedule.url_state import Visit, VisitState

SiteOrder = Literal["name", "pages", "visited"]
SITE_ORDERS: tuple[SiteOrder, ...] = get_args(SiteOrder)
YEAR_S = 31_536_000.0

Visits = Callable[[], Iterable[tuple[str, Visit]]]


@dataclass(slots=True)
class SiteFigures:
    """Describes one site.

    `known`, `pages`, `failing`: its URLs, those stored as pages, and those that failed when they were last asked for.
    `visited_at`: Unix seconds, 0 for never.
    `changes_per_year`: of a page that was seen twice, the mean; 0 where none was."""

    site: str
    known: int = 0
    pages: int = 0
    failing: int = 0
    visited_at: float = 0.0
    changes_per_year: float = 0.0


@dataclass(frozen=True, slots=True)
class ChosenSites:
    """Holds the names of a page of sites. `matching`: sites that begin as asked; `after`: where the next page begins,
    None where this is the last."""

    names: tuple[str, ...]
    matching: int
    all: int
    after: int | None


@dataclass(frozen=True, slots=True)
class SiteSurvey:
    """Holds a page of sites, and what is known of each."""

    chosen: ChosenSites
    rows: tuple[SiteFigures, ...]


def chosen_sites(marks: Mapping[str, float], beginning: str, start: int, most: int) -> ChosenSites:
    """Return up to `most` of the sites that begin so, the highest mark first, then by name."""
    matching = [site for site in marks if site.startswith(beginning)] if beginning else list(marks)
    end = start + most
    first = nsmallest(end, matching, key=lambda site: (-marks[site], site))
    return ChosenSites(tuple(first[start:]), len(matching), len(marks), end if end < len(matching) else None)


def site_survey(
    visits: Visits, rate: Callable[[Visit], float], beginning: str, order: SiteOrder, start: int, most: int
) -> SiteSurvey:
    """Return a page of sites in an order. `visits` yields all, as often as it is called; `rate`: changes a second."""
    chosen = chosen_sites(_marks(visits(), order), beginning, start, most)
    rows = {name: SiteFigures(name) for name in chosen.names}
    seen = dict.fromkeys(rows, 0)
    for site, visit in visits():
        if (row := rows.get(site)) is None:
            continue
        row.known += 1
        row.pages += is_stored(visit)
        row.failing += visit.fails > 0
        row.visited_at = max(row.visited_at, visit.visited_at)
        if visit.history.changed_s or visit.history.unchanged_s:
            row.changes_per_year += rate(visit) * YEAR_S
            seen[site] += 1
    for site, row in rows.items():
        row.changes_per_year /= max(1, seen[site])
    return SiteSurvey(chosen, tuple(rows.values()))


def is_stored(visit: Visit) -> bool:
    """Tell whether a page is stored; one that fails for a while stays."""
    return visit.state is VisitState.FETCHED or (visit.state is VisitState.FAILED and visit.history.kept_at > 0)


def _marks(visits: Iterable[tuple[str, Visit]], order: SiteOrder) -> dict[str, float]:
    """Return by which number each site is ordered; all have the same one where names alone count."""
    if order == "name":
        return dict.fromkeys((site for site, _ in visits), 0.0)
    marks: dict[str, float] = {}
    if order == "pages":
        for site, visit in visits:
            marks[site] = marks.get(site, 0.0) + is_stored(visit)
    else:
        for site, visit in visits:
            marks[site] = max(marks.get(site, 0.0), visit.visited_at)
    return marks
