"""The report of a running node: by its owner's button and by itself, one at a time, and what its page says of it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from dht import Now
from node.captures.capture import DAY_S, Capture
from node.config.settings import Config
from node.extras.web_report import report_maker
from node.extras.web_report.report_maker import FILES, PAGE, NodeReportMaker
from node.owner.setting_desk import SettingDesk
from tests.node.web.browsers import Browser, linked

BUTTON = "Make the web report"


class Clock:
    wall = 20_000 * DAY_S

    def __call__(self) -> Now:
        return Now(self.wall, self.wall)


def _maker(site: Any, folder: Path, days: float = 0.0) -> NodeReportMaker:
    return NodeReportMaker(folder / "report", lambda: f"http://127.0.0.1:{site.port}", lambda: days, Clock())


@pytest.fixture
def owner(site: Any, token: str) -> Browser:
    return linked(site, token)


async def test_the_node_makes_a_report_whose_files_the_owner_alone_reads(
    site: Any, owner: Browser, tmp_path: Path
) -> None:
    site.service.versions = [Capture("http://hub.test/", 1.8e9, 200, (), b"", b"", links=("http://good.test/",))]
    maker = site.service.owner.report = _maker(site, tmp_path)
    assert "None has been made yet" in owner.get("/owner/work").text and owner.get("/owner/report").status == 404
    maker.make("good.test\nother.test\n")
    await maker.make_now()
    state = maker.state()
    assert (state.problem, state.is_wanted, state.sites) == ("", False, "good.test\nother.test\n")
    page = owner.get("/owner/report")
    assert page.status == 200 and "hub.test" in page.text and "Of 2 listed sites 1 are known (50.0 %)" in page.text
    assert "style-src 'unsafe-inline'" in page.headers["content-security-policy"]
    assert site.get("/owner/report").status == 401
    assert [name for name in FILES if name.endswith((".csv", ".json"))] == list(state.files)[:3]
    work = owner.get("/owner/work").text
    for name in state.files:
        assert f'href="/owner/report?file={name}"' in work
        assert owner.get(f"/owner/report?file={name}").body == (tmp_path / "report" / name).read_bytes()
    assert owner.get("/owner/report?file=../admin.token").status == 400
    assert json.loads((tmp_path / "report" / "web.json").read_text())["pages"] == 3


async def test_a_try_that_fails_says_why_and_leaves_the_last_report(
    site: Any, owner: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = site.service.owner.report = _maker(site, tmp_path)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / PAGE).write_text("the last one")
    site.service.fails_at = 1
    await maker.make_now()
    assert "(exit code 2)" in maker.state().problem
    work = owner.get("/owner/work").text
    assert "The last try failed" in work and owner.get("/owner/report").text == "the last one"
    monkeypatch.setattr(sys, "executable", "/bin/false")
    await maker.make_now()
    assert "(exit code 1)" in maker.state().problem, "Python ends so where it cannot even start the verb"


def test_the_button_has_a_report_made_and_is_off_while_one_is(site: Any, owner: Browser, tmp_path: Path) -> None:
    maker = site.service.owner.report = _maker(site, tmp_path)
    reply = owner.post("/owner/report", {"sites": "a b\n"})
    assert reply.status == 303 and not maker.state().is_wanted
    assert "line 1 names no site" in owner.get(reply.headers["location"]).text
    assert owner.post("/owner/report?hl=zh", {"sites": "a.test"}).headers["location"] == "/owner/work?hl=zh#report"
    page = owner.get("/owner/work").text
    assert (
        f"<button disabled>{BUTTON}</button>" in page and "It is being made." in page and ">a.test</textarea>" in page
    )
    owner.post("/owner/report", {"sites": "b.test"})
    assert maker.state().sites == "a.test", "one at a time"
    assert "正在生成" in owner.get("/owner/work", Accept_Language="zh").text


def test_a_report_is_due_so_many_days_after_the_last_one(site: Any, tmp_path: Path) -> None:
    assert not _maker(site, tmp_path).is_due() and _maker(site, tmp_path, 7).is_due(), "0: only by the button"
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / PAGE).write_text("")
    for age, is_due in ((6.9, False), (7.1, True)):
        os.utime(tmp_path / "report" / PAGE, (0, Clock.wall - age * DAY_S))
        assert _maker(site, tmp_path, 7).is_due() == is_due


@pytest.mark.parametrize("lacking", [*report_maker.NEEDED, ""])
def test_without_the_extra_there_is_no_button(
    lacking: str, site: Any, owner: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_maker, "find_spec", lambda name: None if name == lacking else object())
    settings = SettingDesk(tmp_path / "config.toml", Config())
    made = site.service.owner.report = report_maker.report_maker(tmp_path, str, settings, Clock())
    assert (made is None) == bool(lacking)
    assert (BUTTON in owner.get("/owner/work").text) != bool(lacking)
    assert owner.post("/owner/report", {"sites": ""}).status == (404 if lacking else 303)
