"""The first questions in a browser: when they are asked, how answers are checked, and what becomes of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from node.strategy.founding import found_network
from node.web.owner.welcome_page import ANSWERED_S


@pytest.fixture
def new(tmp_path: Path, owner: Any) -> Any:
    """The owner's browser at a node that was made without questions."""
    (tmp_path / "welcome").touch()
    return owner


def test_the_questions_are_asked_until_they_are_answered_or_skipped(new: Any, tmp_path: Path) -> None:
    assert new.get("/owner?hl=zh").headers["location"] == "/owner/welcome?hl=zh"
    assert "设置您的节点" in new.get("/owner/welcome?hl=zh").text
    page = new.get("/owner/welcome").text
    assert all(f'name="{name}"' in page for name in ("network", "disk", "rate", "hours", "site", "skip"))
    assert new.get("/owner").status == 303, "a look does not answer"
    assert new.post("/owner/welcome", {"skip": "1", "disk": "nonsense"}).headers["location"] == "/owner"
    assert new.get("/owner").status == 200 and not (tmp_path / "welcome").exists()


def test_answers_are_obeyed_at_once(new: Any) -> None:
    answers = {"disk": "50 GB", "rate": "500 kB/s", "hours": "22:00-07:00, 12:30-13:30", "site": "www.example.org"}
    assert new.post("/owner/welcome", answers).headers["location"] == "/owner/sites?accepted=1"
    for line in ("quota_bytes = 50000000000", "max_bytes_s = 500000", 'hours = "22:00-07:00, 12:30-13:30"'):
        assert line in new.service.owner.file
    assert new.service.seeds == [(["https://www.example.org"], 3)] and new.service.orders[-1][0] == "host"
    assert new.get("/owner").status == 200


def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_crawled(new: Any, tmp_path: Path) -> None:
    wrong = {"network": str(tmp_path / "no.toml"), "disk": "500 kB/s", "hours": "late", "site": "www.example.org"}
    page = new.post("/owner/welcome", wrong)
    assert page.status == 400 and page.text.count('role="alert"') == 3
    assert page.text.count('aria-invalid="true"') == 3 and 'value="late"' in page.text
    assert "No such file" in page.text and "belongs into another field" in page.text
    assert "late: is not a size, rate or time range; write" in page.text
    assert new.service.seeds == [] and (tmp_path / "welcome").exists()
    page = new.post("/owner/welcome", {"site": "wiki"})
    assert "its host has no dot; write http://wiki/" in page.text and new.service.seeds == []


def test_a_network_is_checked_and_the_node_ends_to_join_it(
    new: Any, tmp_path: Path, wait: Callable[[float], None]
) -> None:
    file, stops = tmp_path / "my campus.toml", list[bool]()
    new.service.owner.stop = lambda: stops.append(True)
    found_network(file, "campus")
    page = new.post("/owner/welcome", {"network": f"'{file}' not words of an invitation"})
    assert page.status == 400 and page.text.count('role="alert"') == 1 and (tmp_path / "welcome").exists()
    assert not (tmp_path / "joins").exists()
    page = new.post("/owner/welcome", {"network": f"'{file}'", "disk": "2 GB"})
    assert page.status == 200 and "is joining" in page.text and not (tmp_path / "welcome").exists()
    assert (tmp_path / "joins").read_text() == f"{file}\n" and "quota_bytes = 2000000000" in new.service.owner.file
    wait(ANSWERED_S + 0.1)
    assert new.get("/owner").status == 200
    assert stops == [True]


def test_only_the_owners_own_page_answers(new: Any, tmp_path: Path) -> None:
    assert new.post("/owner/welcome", {"skip": "1"}, Origin="http://evil.test").status == 401
    assert new.site.send("POST", "/owner/welcome", b"skip=1").status == 401
    assert (tmp_path / "welcome").exists()
