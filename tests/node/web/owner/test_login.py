"""The owner in a browser: the link of `dse-node open`, what a login may do, and what strangers' pages may not."""

import json
from itertools import count
from typing import Any

import pytest

from node.cli.main import main
from node.config.data_dir import DataDir
from node.web.owner.login import FRESH_S, LINK_S, MAX_LINKS, MAX_SESSIONS, SESSION_S, Logins

JSON = {"Content_Type": "application/json"}


def link(site: Any, token: str) -> str:
    reply = site.send("POST", "/api/v1/login", b"{}", Authorization=f"Bearer {token}", **JSON)
    assert reply.status == 200
    return str(json.loads(reply.text)["path"])


def logged_in(site: Any, token: str) -> str:
    """The cookie of a browser that followed a link."""
    reply = site.get(link(site, token))
    assert reply.status == 303 and reply.headers["location"] == "/owner"
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and cookie.startswith(f"dse-{site.port}=")
    return str(cookie.partition(";")[0])


def test_a_link_logs_in_once(site: Any, token: str) -> None:
    path = link(site, token)
    assert site.send("HEAD", path).status == 403 and site.get(path, Sec_Purpose="prefetch").status == 403
    assert site.get(path).status == 303
    again = site.get(path, Accept="text/html")
    assert again.status == 403 and "dse-node open" in again.text and "set-cookie" not in again.headers
    assert site.get("/login?code=guess").status == 403 and "<h1>Log in</h1>" in site.get("/login").text


def test_only_the_token_makes_links(site: Any, token: str) -> None:
    assert site.send("POST", "/api/v1/login", b"{}", **JSON).status == 401
    assert site.send("POST", "/api/v1/login", b'{"a": 1}', Authorization=f"Bearer {token}", **JSON).status == 400


def test_a_login_stands_for_the_token_on_own_pages_alone(site: Any, token: str) -> None:
    cookie, own = logged_in(site, token), f"http://127.0.0.1:{site.port}"
    pause = ("POST", "/api/v1/pause", b'{"paused": true}')
    assert site.send(*pause, Cookie=cookie, Origin=own, **JSON).status == 200
    strangers = ["", "null", "http://evil.test", f"http://127.0.0.1:{site.port + 1}", "http://[", f"{own}.evil.test"]
    for origin in strangers:
        assert site.send(*pause, Cookie=cookie, Origin=origin, **JSON).status == 401
    assert site.send(*pause, Cookie=cookie, **JSON).status == 401, "a request that does not say where it comes from"
    for wrong in (f"dse-{site.port}=guess", f"dse-1={cookie.partition('=')[2]}", "dse"):
        assert site.send(*pause, Cookie=wrong, Origin=own, **JSON).status == 401


def test_the_status_page_says_so_and_logs_out(site: Any, token: str) -> None:
    cookie, own = logged_in(site, token), f"http://127.0.0.1:{site.port}"
    assert "logged in" in site.get("/status", Cookie=cookie).text and "logged in" not in site.get("/status").text
    assert site.send("POST", "/logout", Cookie=cookie, Origin="http://evil.test").status == 401
    assert site.send("POST", "/logout", Cookie=cookie, Origin=own).status == 303
    assert "logged in" not in site.get("/status", Cookie=cookie).text


def test_the_command_prints_the_link(site: Any, token: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    DataDir(home).create()
    (home / "admin.token").write_text(token)
    where = ["--data-dir", str(home), "--url", f"http://127.0.0.1:{site.port}"]
    assert main(["open", *where]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"http://127.0.0.1:{site.port}/login?code=") and said.out.count("\n") == 1
    assert "works once, within 5 minutes" in said.err
    assert site.get(said.out.strip().partition(str(site.port))[2]).status == 303
    assert main(["open", "--json", *where]) == 0
    assert json.loads(capsys.readouterr().out)["expires_in_s"] == 300.0


def logins() -> Logins:
    numbers = count()
    return Logins(lambda: f"code-{next(numbers)}")


def test_a_link_counts_once_and_not_for_ever() -> None:
    made = logins()
    link = made.new_link(0.0)
    assert made.log_in("", 1.0) == made.log_in("code-9", 1.0) == made.log_in("ü\ud800", 1.0) == ""
    session = made.log_in(link, LINK_S)
    assert session and session != link
    assert made.log_in(link, LINK_S) == "", "it was used"
    assert made.log_in(made.new_link(0.0), LINK_S + 1) == "", "it is too old"
    assert not made.is_owner(link, 1.0) and made.log_in(session, 1.0) == "", "one is not the other"


def test_a_session_goes_on_while_it_is_used() -> None:
    made = logins()
    session = made.log_in(made.new_link(0.0), 0.0)
    assert made.is_owner(session, SESSION_S) and made.is_owner(session, 2 * SESSION_S)
    assert not made.is_owner(session, 3 * SESSION_S + 1) and not made.is_owner(session, 0.0)
    other = made.log_in(made.new_link(0.0), 0.0)
    made.log_out(other)
    made.log_out("code-99")
    assert not made.is_owner(other, 0.0) and not made.is_owner("", 0.0)


def test_the_oldest_make_room() -> None:
    made = logins()
    links = [made.new_link(0.0) for _ in range(MAX_LINKS + 1)]
    assert made.log_in(links[0], 0.0) == "" and made.log_in(links[1], 0.0)
    sessions = [made.log_in(made.new_link(0.0), 0.0) for _ in range(MAX_SESSIONS)]
    assert all(made.is_owner(session, 0.0) for session in sessions)
    made.log_in(made.new_link(0.0), 0.0)
    assert sum(made.is_owner(session, 0.0) for session in sessions) == MAX_SESSIONS - 1


def test_a_login_is_fresh_for_five_minutes_whatever_is_asked_since() -> None:
    logins = Logins(map("code{}".format, count()).__next__)
    session = logins.log_in(logins.new_link(0.0), 0.0)
    for now in (0.0, FRESH_S / 2, FRESH_S - 1):
        assert logins.is_owner(session, now) and logins.is_fresh(session, now)
    assert logins.is_owner(session, FRESH_S) and not logins.is_fresh(session, FRESH_S)
    newer = logins.log_in(logins.new_link(FRESH_S), FRESH_S)
    assert logins.is_fresh(newer, FRESH_S) and not logins.is_fresh(session, FRESH_S) and not logins.is_fresh("", 0.0)
    logins.log_out(newer)
    assert not logins.is_fresh(newer, FRESH_S)
