"""An owner presses the button of a real node, and reads the report that the node makes of what it crawled."""

import csv
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from machines import linked, village, wait_until
from test_strategy_in_browser import Browser

from node.extras.web_report.verb import NEEDED

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="the extra web-report is not installed"),
]
ROOMS = ["library", "pool", "museum"]


def test_the_button_makes_a_report(tmp_path: Path) -> None:
    with village(tmp_path, {"town.test": linked(ROOMS, "town.test", "town.test")}, 26400) as town:
        one = town.add("one")
        one.start()
        one.do("crawl", f"http://town.test:{town.port}/", "--depth", "9")
        wait_until("all is found", lambda: len(one.urls("opening hours")) == len(ROOMS), 40)
        browser, folder = Browser(one), one.data / "report"
        status, leads, _ = browser.send("POST", "/owner/report", sites=f"town.test:{town.port}\nfar.test")
        assert (status, leads) == (303, "/owner/work#report")
        wait_until("the report is made", lambda: "open the report" in browser.send("GET", "/owner/work")[2], 60)
        wait_until("it is over", lambda: "It is being made" not in browser.send("GET", "/owner/work")[2], 20)
        status, _, page = browser.send("GET", "/owner/report")
        assert status == 200 and "Of 2 listed sites 1 are known (50.0 %)" in page
        figures = json.loads((folder / "web.json").read_text())
        assert (figures["pages"], figures["life"]["pages"], figures["listed"]["pages"]) == (3, 3, 3)
        with (folder / "web.pages.csv").open(newline="") as file:
            ranks = [float(row["rank"]) for row in csv.DictReader(file)]
        assert len(ranks) == 3 and sum(ranks) == pytest.approx(1)
        assert sorted(path.name for path in folder.glob("*.part")) == [], "nothing is left of its work"
        one.stop()
