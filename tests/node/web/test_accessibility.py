"""Every page as people with other eyes and hands meet it: axe's rules, a walk by keyboard, zoom, a narrow screen.

The tests ask for level AA of WCAG 2.2; numbers of its success criteria stand beside them.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from node.web.requests.route_table import ROUTES
from node.web.requests.routes import HTML
from tests.node.web.owner_desk import full_history

pytestmark = pytest.mark.prove

COPY = "http%3A%2F%2Fdocs.python.test%2F3%2Ftutorial%2Fappetite.html"
PAGES = {
    "home": ("/", "/?by=post"),
    "results": (
        "/search?q=task&lang=en&site=test",
        "/search?q=e",
        "/search?q=zebar",
        "/search?q=zebra&sort=date",
        "/search?q=%22open",
    ),
    "status_page": ("/status",),
    "cache": (f"/cache?url={COPY}", f"/cache?url={COPY}&view=page", "/cache?url=http%3A%2F%2Fnone.test%2F"),
    "help_page": ("/help",),
    "site_rules": ("/sites", "/sites?saved=1"),
    "reader_settings": ("/settings", "/settings?saved=1"),
    "suggest_site": ("/suggest-site",),
    "privacy": ("/privacy",),
    "bot": ("/bot",),
    "login": ("/login", "/login?code=used"),
}
NO_PAGES = {"cache_raw", "web_report"}  # a copy of a page, and a file of the web report
ADDRESSES = [address for addresses in PAGES.values() for address in addresses] + ["/nothing-here"]
OF_OWNER = {
    "owner_overview": ("/owner", "/owner?span=day"),
    "owner_network": ("/owner/network",),
    "owner_sites": ("/owner/sites", "/owner/sites?refused=no"),
    "owner_strategy": ("/owner/strategy?version=3", "/owner/strategy?refused=no&published=4"),
    "owner_strategy_draft": (),  # a fixture makes one
    "owner_work": ("/owner/work",),
    "owner_welcome": ("/owner/welcome",),
    "owner_settings": ("/owner/settings", "/owner/settings?setting=crawl.max_hops", "/owner/settings?refused=no"),
}


def test_all_pages_are_looked_at() -> None:
    assert PAGES.keys() | OF_OWNER.keys() | NO_PAGES >= {
        each.name for each in ROUTES if each.gives == HTML and each.method == "GET"
    }


def all_of(site: Any) -> list[str]:
    """All pages, as a stranger sees them first, then those of the owner, who is logged in by the link between them."""
    return [*ADDRESSES, site.link, "/status", site.draft, *(address for each in OF_OWNER.values() for address in each)]


def opened(site: Any, page: Any, address: str) -> Any:
    page.goto(f"http://127.0.0.1:{site.port}{address}")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    return page


@pytest.fixture
def full(site: Any, token: str) -> Any:
    """A node whose pages show all that they may: a partial answer with doubts, warnings, versions of a page; whoever
    opens `link` is its owner."""
    body = {"Authorization": f"Bearer {token}", "Content_Type": "application/json"}
    site.link = site.send("POST", "/api/v1/login", b"{}", **body).json["path"]
    form = body | {"Content_Type": "application/x-www-form-urlencoded"}
    site.draft = site.send("POST", "/owner/strategy/change", b"deny=a.test", **form).headers["location"]
    asked = {"Content_Type": form["Content_Type"], "Origin": f"http://127.0.0.1:{site.port}"}
    site.send("POST", "/ask-removal", b"pages=a.test/private/&why=It+is+mine&contact=ann@a.test", **asked)
    site.service.owner.history = full_history()
    site.service.warned.append("this machine's clock is 40 s behind those of its peers")
    site.service.answered = 240
    site.service.numbers = EXPLAINED
    return site


EXPLAINED = {
    "score": 3.5,
    "bm25": 1.75,
    "rewards": 0.25,
    "proximity": 2.0,
    "documents": 1200,
    "length": 1953.0,
    "average_length": 671.1,
    "is_front": True,
    "weights": {"title": 4, "body": 1},
    "leaves": [{"leaf": "task", "df": 9, "idf": 1.826, "tf": {"title": 1, "body": 100}, "score": 1.75}],
}


IS_SEEN = """() => {
  const box = document.activeElement.getBoundingClientRect(), style = getComputedStyle(document.activeElement);
  const isInside = box.top >= 0 && box.bottom <= innerHeight + 1;
  return isInside && (style.outlineStyle !== "none" || style.boxShadow !== "none");
}"""


SHIFTED = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((seen) => seen.getEntries().forEach((each) => { sum += each.value }))
    .observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 100);
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_axe_finds_nothing(full: Any, tab: Callable[..., Any], axe: str, tongue: str, scheme: str) -> None:
    page = tab(locale={"en": "en-GB", "zh": "zh-CN"}[tongue], color_scheme=scheme, bypass_csp=True)
    violations = []
    for address in all_of(full):
        opened(full, page, address)
        assert page.evaluate("document.documentElement.lang").startswith(tongue)
        page.evaluate(axe)
        for each in page.evaluate("axe.run({iframes: false})")["violations"]:
            violations += [(address, each["id"], node["html"][:200]) for node in each["nodes"]]
    assert violations == []


def test_the_search_page_is_walked_by_keyboard(full: Any, tab: Callable[..., Any]) -> None:
    """2.1.1, 2.4.1, 2.4.3, 2.4.7, 2.4.11: all that can be used is reached in the order of the page, seen, and left."""
    page = tab()
    opened(full, page, "/search?q=e")
    usable = page.locator("a[href], button, input:not([type=hidden]), textarea, summary, [tabindex='0']").evaluate_all(
        "all => all.filter((each) => each.checkVisibility()).map((each) => each.outerHTML)"
    )
    walked, unseen = [], []
    for _ in usable:
        page.keyboard.press("Tab")
        walked.append(page.evaluate("document.activeElement.outerHTML"))
        unseen += [] if page.evaluate(IS_SEEN) else [walked[-1]]
    assert (walked, unseen) == (usable, [])
    page.reload()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")


@pytest.mark.parametrize("zoomed", [False, True])
def test_nothing_is_cut_off_on_a_narrow_screen_or_in_large_letters(
    full: Any, tab: Callable[..., Any], zoomed: bool
) -> None:
    """1.4.4 and 1.4.10: at 320 pixels, and at twice the size of letters, lines are never scrolled sideways."""
    page = tab(viewport={"width": 640 if zoomed else 320, "height": 512})
    for address in all_of(full):
        opened(full, page, address)
        if zoomed:
            page.evaluate("document.documentElement.style.fontSize = '200%'")
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width <= 0, address


def test_what_is_pressed_is_large_enough(full: Any, tab: Callable[..., Any]) -> None:
    """2.5.8: buttons are 24 pixels high and wide at least; links in a line of text may be smaller."""
    page = tab(viewport={"width": 360, "height": 740})
    for address in all_of(full):
        opened(full, page, address)
        small = page.locator("button:visible, summary:visible, .box input:visible").evaluate_all(
            """all => all.filter((each) => { const box = each.getBoundingClientRect();
            return box.width < 24 || box.height < 24 }).map((each) => each.outerHTML)"""
        )
        assert small == [], address


def test_nothing_moves_for_who_wants_no_motion(full: Any, tab: Callable[..., Any]) -> None:
    page = tab(reduced_motion="reduce")
    for address in ADDRESSES:
        opened(full, page, address)
        assert page.evaluate("document.getAnimations().length") == 0, address
        moving = page.evaluate(
            """[...document.querySelectorAll("*")].filter((each) => { const style = getComputedStyle(each);
            return style.transitionDuration !== "0s" || style.animationName !== "none" }).length"""
        )
        assert moving == 0, address


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_shifts_while_a_page_loads(full: Any, tab: Callable[..., Any], width: int) -> None:
    page = tab(viewport={"width": width, "height": 740})
    for address in all_of(full):
        page.goto(f"http://127.0.0.1:{full.port}{address}")
        assert page.evaluate(SHIFTED) == 0, address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_of_plots_stand_out(full: Any, tab: Callable[..., Any], scheme: str) -> None:
    """1.4.11: three to one against the page behind them."""
    page = opened(full, tab(color_scheme=scheme), full.link)
    for address, lines in (("/owner", "path.line"), ("/owner/network", ".copies1, .copies4, .crawl2, .mine3")):
        opened(full, page, address)
        paper = _luminance(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        strokes = page.locator(lines).evaluate_all("all => all.map((each) => getComputedStyle(each).stroke)")
        assert strokes
        for stroke in set(strokes):
            light, dark = sorted((paper, _luminance(stroke)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 3, (address, stroke)


def _luminance(colour: str) -> float:
    """The relative luminance of rgb(r, g, b), as WCAG defines it."""
    parts = [int(each) / 255 for each in re.findall(r"\d+", colour)[:3]]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
