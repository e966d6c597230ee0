"""Five tasks of a stranger, and what the page's script adds, in Chromium; without it they are skipped by name."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from tests.node.conftest import PAGES, capture
from tests.node.web.search.test_search_page import full_page
from tests.node.web.test_accessibility import EXPLAINED

pytestmark = pytest.mark.prove

PYTHON = "http://docs.python.test/3/tutorial/appetite.html"
DAY_S = 86_400.0
STEPS = 4


@dataclass
class Stranger:
    """Somebody before the front page, who counts each thing that has to be done."""

    page: Any
    steps: int = 0

    def ask(self, words: str) -> None:
        self.page.locator("input[name=q]").fill(words)
        self.page.keyboard.press("Enter")
        self.page.locator("#found").wait_for()
        self.steps += 1

    def press(self, name: str) -> None:
        self.page.locator("a, summary, button").filter(has_text=name).first.click()
        self.steps += 1


@pytest.fixture
def stranger(site: Any, tab: Callable[..., Any]) -> Stranger:
    page = tab(locale="en-GB")
    page.goto(f"http://127.0.0.1:{site.port}/")
    return Stranger(page)


def test_a_page_is_found(stranger: Stranger) -> None:
    stranger.ask("task")
    assert stranger.page.locator(f'h2 a[href="{PYTHON}"]').is_visible()
    assert stranger.steps <= STEPS


def test_a_misspelled_question_is_corrected(stranger: Stranger) -> None:
    stranger.ask("tsak")
    assert stranger.page.get_by_text("Showing results for task").is_visible()
    assert stranger.page.locator("h2 a").count() > 0
    stranger.press("tsak")
    assert stranger.page.get_by_text("Nothing found for tsak").is_visible() and stranger.steps <= STEPS


def test_results_are_filtered(stranger: Stranger, site: Any) -> None:
    stranger.ask("task")
    stranger.press("Filters")
    stranger.press("python.test")
    stranger.page.get_by_text("site: python.test").wait_for()
    assert site.service.asked[-1].site == "python.test" and stranger.steps <= STEPS


def test_an_old_copy_is_read(stranger: Stranger, site: Any) -> None:
    newest = capture(PAGES[PYTHON])
    site.service.versions = [
        replace(newest, captured_at=newest.captured_at - days * DAY_S, text=f"{days} days before") for days in (10, 30)
    ]
    stranger.ask("task")
    stranger.press("⋯")
    stranger.press("Stored copy")
    stranger.press("All versions: 3")
    stranger.page.locator(".versions a", has_text="2026-10-19").click()
    stranger.page.get_by_text("30 days before").wait_for()
    assert stranger.steps <= STEPS


def test_it_is_said_why_a_page_stands_where_it_does(stranger: Stranger, site: Any) -> None:
    site.service.numbers = EXPLAINED
    stranger.ask("task")
    stranger.press("⋯")
    assert stranger.page.get_by_text(
        "Contains your word; “task” matters most: 9 of 1,200 pages contain it"
    ).first.is_visible()
    assert stranger.page.locator("svg.chart").first.is_visible() and stranger.steps <= STEPS


def test_suggestions_are_walked_by_keyboard_and_only_this_node_is_asked(stranger: Stranger, site: Any) -> None:
    page = stranger.page
    box = page.locator("input[name=q]")
    box.press_sequentially("tas")
    page.get_by_role("option", name="task").wait_for()
    assert (box.get_attribute("role"), box.get_attribute("aria-expanded")) == ("combobox", "true")
    assert site.service.asked == [], "no peer is asked for what is typed"
    page.keyboard.press("Escape")
    assert not page.get_by_role("listbox").is_visible() and box.input_value() == "tas"
    box.press_sequentially("k")
    page.get_by_role("option", name="taskk").wait_for()
    page.keyboard.press("ArrowDown")
    active = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-selected") == "true" and box.input_value() == "taskk"
    page.keyboard.press("ArrowUp")
    assert box.input_value() == "task", "what was typed comes back"
    page.keyboard.press("Enter")
    page.locator("h2 a").first.wait_for()
    assert site.service.asked[-1].text == "task"


@pytest.fixture
def slow(site: Any) -> Any:
    """A node whose network has answered in part after 400 ms, and whose better results come later, in order."""
    site.service.held_back = 1
    return site


def test_later_results_wait_behind_a_button_and_move_nothing(stranger: Stranger, slow: Any) -> None:
    stranger.ask("e")
    page = stranger.page
    titles = page.locator("h2 a").all_inner_texts()
    button = page.get_by_role("button", name="1 better result")
    before = page.locator("h2").first.bounding_box()
    button.wait_for()
    assert page.locator("h2 a").all_inner_texts() == titles, "nothing is shown before it is asked for"
    assert page.locator("h2").first.bounding_box() == before
    button.click()
    assert page.locator("h2 a").count() == len(titles) + 1
    assert len(slow.service.asked) == 1, "the network is asked once for both"
    assert page.locator("h2 a").all_inner_texts()[1:] == titles, "what came later stands where it belongs"
    assert "the whole network answered" in page.locator(".tally").text_content()
    assert "quick" not in page.url, "whoever reloads or sends on the address gets all"


def test_without_scripts_a_reader_waits_for_the_whole_answer_and_has_all(slow: Any, tab: Callable[..., Any]) -> None:
    page = tab(java_script_enabled=False)
    page.goto(f"http://127.0.0.1:{slow.port}/")
    page.locator("input[name=q]").fill("e")
    page.keyboard.press("Enter")
    page.locator("h2 a").first.wait_for()
    assert page.locator("h2 a").count() == 3
    page.locator("summary", has_text="⋯").first.click()
    page.get_by_role("button", name="block").click()
    page.get_by_text("1 result hidden because you blocked its site").wait_for()
    assert page.locator("h2 a").count() == 2
    page.goto(f"http://127.0.0.1:{slow.port}/sites")
    assert page.get_by_label("Rules").input_value() == "block docs.python.test\n"
    page.get_by_label("Rules").fill("raise evil.test")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    page.goto(f"http://127.0.0.1:{slow.port}/search?q=e")
    assert page.locator(".where b").first.inner_text() == "evil.test"


def test_a_posted_query_stands_in_no_address_and_no_title(site: Any, tab: Callable[..., Any]) -> None:
    page, addresses = tab(), list[str]()
    page.on("framenavigated", lambda frame: addresses.append(f"{frame.url} {page.title()}"))
    page.goto(f"http://127.0.0.1:{site.port}/privacy")
    page.get_by_text("without leaving the query").click()
    page.locator("input[name=q]").fill("task")
    page.keyboard.press("Enter")
    page.locator("h2 a").first.wait_for()
    for name in ("Newest first", "Best first", "Next page →", "First page"):
        if name.endswith("first"):
            page.locator(".bar summary", has_text=" first").click()
        page.get_by_role("button", name=name).click()
        page.wait_for_load_state()
    assert [each.cursor for each in site.service.asked] == ["", "", "", "bmV4dA", ""]
    assert [each.is_by_date for each in site.service.asked] == [False, True, False, False, False]
    assert page.locator("h2 a").count() > 0 and len(addresses) >= 7
    assert not [each for each in addresses if "task" in each]


def test_no_site_learns_the_query(site: Any, start: Callable[..., Any], tab: Callable[..., Any]) -> None:
    """The page that a result leads to is one of another port here, as good as another site's."""
    other = start()
    site.service.hits = [{"url": f"http://127.0.0.1:{other.port}/help", "title": "there"}]
    page, told = tab(), list[str | None]()
    page.on(
        "request", lambda request: told.append(request.all_headers().get("referer")) if "/help" in request.url else None
    )
    page.goto(f"http://127.0.0.1:{site.port}/search?q=canary")
    page.get_by_role("link", name="there").click()
    page.wait_for_url("**/help")
    assert told == [None]


def test_the_owner_logs_out_by_the_pages_own_form(site: Any, tab: Callable[..., Any], token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content_Type": "application/json"}
    link = site.send("POST", "/api/v1/login", b"{}", **headers).json["path"]
    page = tab()
    page.goto(f"http://127.0.0.1:{site.port}{link}")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"http://127.0.0.1:{site.port}/")
    page.goto(f"http://127.0.0.1:{site.port}/status")
    assert not page.get_by_role("button", name="Log out").is_visible()


def test_single_keys_walk_the_results(stranger: Stranger) -> None:
    stranger.ask("e")
    page, focused = stranger.page, "document.activeElement.textContent"
    titles = page.locator("h2 a").all_inner_texts()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement === document.body"), "arrows scroll until a result is selected"
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate(focused) == titles[1]
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == titles[2]
    for key in ("j", "Control+k", "Alt+k"):
        page.keyboard.press(key)
    assert page.evaluate(focused) == titles[2], "the last one, and keys of the browser are its own"
    page.keyboard.press("k")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == titles[0]
    page.keyboard.press("/")
    page.keyboard.press("End")
    page.keyboard.type("j/k?")
    assert page.locator("input[name=q]").input_value() == "ej/k?", "nothing happens while somebody types"
    page.keyboard.press("Escape")
    page.locator("h2 a").first.focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()
    page.keyboard.press("j")
    page.get_by_role("button", name="Close").click()
    assert page.get_by_role("dialog").count() == 0 and page.evaluate(focused) == titles[0]
    page.keyboard.press("j")
    address = page.evaluate("document.activeElement.href")
    with page.expect_request(address):
        page.keyboard.press("Enter")


def test_a_reader_chooses_theme_language_and_no_keys_without_scripts(site: Any, tab: Callable[..., Any]) -> None:
    page = tab(color_scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    page.goto(f"http://127.0.0.1:{site.port}/")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Theme").select_option("dark")
    page.get_by_label("Keyboard shortcuts").select_option("off")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()
    assert page.evaluate(paper) == "rgb(20, 23, 26)"
    page.goto(f"http://127.0.0.1:{site.port}/search?q=e")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement === document.body") and page.evaluate(paper) == "rgb(20, 23, 26)"
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)", "paper is white"


def test_five_results_are_seen_at_once_and_none_is_tall(site: Any, tab: Callable[..., Any]) -> None:
    full_page(site)
    page = tab(viewport={"width": 1280, "height": 800})
    page.goto(f"http://127.0.0.1:{site.port}/search?q=table")
    boxes = [each.bounding_box() for each in page.locator(".results > li").all()]
    tops = [box["y"] for box in boxes]
    assert len(boxes) == 10 and max(after - before for before, after in pairwise(tops)) <= 130
    assert sum(box["y"] + box["height"] <= 800 for box in boxes) >= 5
