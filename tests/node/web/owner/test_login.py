"""The owner in a browser: the link of `dse-node open`, what a login may do, and what strangers' pages may not."""

import http.client
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from node.cli.main import main
from node.config.data_dir import DataDir
from node.owner.passwords import PasswordFile
from node.web.owner.login import FRESH_S, LINK_S, MAX_CHECKS, MAX_LINKS, MAX_SESSIONS, SESSION_S, Logins
from node.web.requests.route_table import ROUTES
from tests.node.web.browsers import FORM, entered, linked, type_password

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
    assert not made.role(link, 1.0) and made.log_in(session, 1.0) == "", "one is not the other"


def test_a_session_goes_on_while_it_is_used() -> None:
    made = logins()
    session = made.log_in(made.new_link(0.0), 0.0)
    assert made.role(session, SESSION_S) and made.role(session, 2 * SESSION_S)
    assert not made.role(session, 3 * SESSION_S + 1) and not made.role(session, 0.0)
    other = made.log_in(made.new_link(0.0), 0.0)
    made.log_out(other)
    made.log_out("code-99")
    assert not made.role(other, 0.0) and not made.role("", 0.0)


def test_the_oldest_make_room() -> None:
    made = logins()
    links = [made.new_link(0.0) for _ in range(MAX_LINKS + 1)]
    assert made.log_in(links[0], 0.0) == "" and made.log_in(links[1], 0.0)
    sessions = [made.log_in(made.new_link(0.0), 0.0) for _ in range(MAX_SESSIONS)]
    assert all(made.role(session, 0.0) for session in sessions)
    made.log_in(made.new_link(0.0), 0.0)
    assert sum(made.role(session, 0.0) == "owner" for session in sessions) == MAX_SESSIONS - 1


def test_a_login_is_fresh_for_five_minutes_whatever_is_asked_since() -> None:
    logins = Logins(map("code{}".format, count()).__next__)
    session = logins.log_in(logins.new_link(0.0), 0.0)
    for now in (0.0, FRESH_S / 2, FRESH_S - 1):
        assert logins.role(session, now) and logins.is_fresh(session, now)
    assert logins.role(session, FRESH_S) and not logins.is_fresh(session, FRESH_S)
    newer = logins.log_in(logins.new_link(FRESH_S), FRESH_S)
    assert logins.is_fresh(newer, FRESH_S) and not logins.is_fresh(session, FRESH_S) and not logins.is_fresh("", 0.0)
    logins.log_out(newer)
    assert not logins.is_fresh(newer, FRESH_S)


OWNERS, VIEWERS = "correct horse battery", "staple horse, only to look"


@pytest.fixture
def passwords(tmp_path: Path) -> PasswordFile:
    """The file of a node that has both passwords."""
    file = PasswordFile(DataDir(tmp_path).passwords)
    file.set("owner", OWNERS)
    file.set("viewer", VIEWERS)
    return file


def test_a_password_logs_in_where_one_is_set(site: Any, tmp_path: Path, wait: Callable[[float], None]) -> None:
    assert 'type="password"' not in site.get("/login").text and type_password(site, OWNERS).status == 403
    DataDir(tmp_path).create()
    PasswordFile(DataDir(tmp_path).passwords).set("owner", OWNERS)
    page = site.get("/login", Accept_Language="zh").text
    assert 'type="password"' in page and "密码" in page
    assert type_password(site, OWNERS).status == 429, "the try before was a wrong one"
    wait(1.0)
    assert type_password(site, OWNERS).status == 303


def test_an_owner_by_password_does_what_one_by_a_link_does(site: Any, passwords: PasswordFile) -> None:
    owner = entered(site, OWNERS)
    assert owner.post("/owner/pause", {"paused": 1}).status == 303 and site.service.is_paused
    assert (
        "read-only" not in owner.get("/owner").text
        and type_password(site, OWNERS, Origin="http://evil.test").status == 403
    )


def test_no_password_crosses_the_internet_in_the_clear(start: Any, passwords: PasswordFile) -> None:
    site = start(web_trusted_proxies=("127.0.0.1",), web_names=("search.example.edu",))
    for caller, scheme, is_taken in [
        ("8.8.8.8", "http", False),
        ("8.8.8.8", "https", True),
        ("2a00:1450::1", "http", False),
        ("unknown", "http", False),
        ("10.1.2.3", "http", True),
        ("100.64.1.2", "http", True),
        ("fd00::7", "http", True),
    ]:
        passed = {"X_Forwarded_For": caller, "X_Forwarded_Proto": scheme}
        page = site.get("/login", **passed).text
        assert ('type="password"' in page, "without https" in page) == (is_taken, not is_taken), caller
        own = f"{scheme}://127.0.0.1:{site.port}"
        assert type_password(site, OWNERS, Origin=own, **passed).status == (303 if is_taken else 403), caller


def test_the_page_after_a_password_has_the_language_of_the_form(site: Any, passwords: PasswordFile) -> None:
    sent = {"Origin": f"http://127.0.0.1:{site.port}", "Content_Type": FORM}
    reply = site.send("POST", "/login?hl=zh", f"password={OWNERS.replace(' ', '+')}".encode(), **sent)
    assert reply.headers["location"] == "/owner?hl=zh"


def test_a_password_leads_back_to_the_draft_that_asked_for_it(site: Any, passwords: PasswordFile) -> None:
    sent = {"Origin": f"http://127.0.0.1:{site.port}", "Content_Type": FORM}
    assert 'action="/login?draft=abc"' in site.get("/login?draft=abc").text
    reply = site.send("POST", "/login?draft=abc%26x", f"password={OWNERS.replace(' ', '+')}".encode(), **sent)
    assert reply.headers["location"] == "/owner/strategy/draft?draft=abc%26x"


def test_guesses_are_slowed_down_and_do_not_stop_the_owner(
    site: Any, passwords: PasswordFile, token: str, wait: Callable[[float], None]
) -> None:
    owner = entered(site, OWNERS)
    wrong = type_password(site, "a guess that is long enough", Accept="text/html")
    assert (wrong.status, wrong.headers["retry-after"]) == (403, "1") and "set-cookie" not in wrong.headers
    for password in ("another guess", OWNERS, VIEWERS):  # also a right one, or waiting would tell which one is
        early = type_password(site, password, Accept="text/html")
        assert early.status == 429 and int(early.headers["retry-after"]) >= 1 and "set-cookie" not in early.headers
    assert "not a password" in wrong.text and "in a second" in wrong.text
    wait(1.0)
    assert type_password(site, "a third guess of many").headers["retry-after"] == "2"
    assert site.get("/owner", Cookie=logged_in(site, token)).status == 200
    assert owner.get("/owner").status == 200
    assert type_password(site, OWNERS, Cookie=owner.cookie).status == 303, "a session has tries of its own"


def test_few_passwords_wait_to_be_checked(start: Any, passwords: PasswordFile) -> None:
    site = start(web_trusted_proxies=("127.0.0.1",))

    def guess(number: int) -> int:
        return int(type_password(site, f"a guess of many {number}", X_Forwarded_For=f"198.51.100.{number}").status)

    with ThreadPoolExecutor(16) as crowd:
        answers = list(crowd.map(guess, range(16)))
    assert set(answers) == {403, 429} and answers.count(403) >= MAX_CHECKS


def test_the_answer_does_not_say_which_login_a_password_missed(start: Any, tmp_path: Path) -> None:
    site, answers, file = start(), set[str](), PasswordFile(DataDir(tmp_path).passwords)
    for role in ("owner", "viewer"):
        file.set(role, OWNERS)
        reply = type_password(start(), VIEWERS)
        answers.add(f"{reply.status} {reply.text.replace(str(site.port), '')}")
        file.remove(role)
    assert len(answers) == 1


def test_a_session_ends_with_its_password(site: Any, passwords: PasswordFile, token: str, tmp_path: Path) -> None:
    DataDir(tmp_path).create()
    owner, viewer, linked = entered(site, OWNERS), entered(site, VIEWERS), logged_in(site, token)
    passwords.set("owner", "another password of the owner")
    assert owner.get("/owner").status == 401 and owner.post("/owner/pause", {"paused": 1}).status == 401
    assert viewer.get("/owner").status == 200
    assert main(["password", "remove", "--read-only", "--data-dir", str(tmp_path)]) == 0
    assert viewer.get("/owner").status == 401 and site.get("/owner", Cookie=linked).status == 200
    passwords.set("viewer", VIEWERS)
    assert viewer.get("/owner").status == 401, "the same password again is another one"


def test_a_read_only_login_changes_nothing_by_any_route(site: Any, passwords: PasswordFile, token: str) -> None:
    viewer = entered(site, VIEWERS)
    posts = [route for route in ROUTES if route.method == "POST" and route.needs_token and route.name != "logout"]
    assert len(posts) > 20
    for route in posts:
        reply = viewer.post(route.path, {}, Accept="text/html")
        assert reply.status == 403 and ("read-only" in reply.text or route.path.startswith("/api/")), route.name
    for route in (route for route in ROUTES if route.method == "POST" and not route.needs_token):
        fields = {field.name: "http://example.org/" for field in route.form if field.kind == "text"}
        if route.name != "log_in":
            viewer.post(route.path, fields)
    assert (site.service.seeds, site.service.orders, site.service.published) == ([], [], [])
    assert not site.service.is_paused and site.service.left == 0
    assert "只读" in viewer.post("/owner/pause?hl=zh", {}, Accept="text/html").text


def test_a_read_only_login_sees_the_owners_pages_and_no_button_that_works(site: Any, passwords: PasswordFile) -> None:
    viewer = entered(site, VIEWERS)
    seen = 0
    for route in (
        each for each in ROUTES if each.method == "GET" and each.path.startswith("/owner") and each.needs_token
    ):
        if route.name in ("owner_strategy_draft", "owner_strategy_file", "web_report"):
            continue
        page = viewer.get(route.path)
        assert page.status == 200, route.name
        for form in re.findall(r'<form(?=[^>]*method="post")[^>]*>.*?</form>', page.text, re.S):
            if 'action="/logout"' not in form:
                buttons = re.findall("<button[^>]*>", form)
                assert all("disabled" in button for button in buttons), (route.name, buttons)
        assert all("disabled" in button for button in re.findall(r'<button[^>]*form="[^>]*>', page.text))
        seen += 1
    assert seen >= 6
    assert 'name="deny"' not in viewer.get("/search?q=task").text, "nor does the page of results offer to delete"


def test_a_read_only_login_sees_no_secret(site: Any, passwords: PasswordFile, token: str) -> None:
    viewer = entered(site, VIEWERS)
    for path in ("/owner/settings", "/api/v1/settings", "/owner/work", "/api/v1/log", "/owner"):
        reply = viewer.get(path)
        assert reply.status == 200 and token not in reply.text and "argon2id" not in reply.text
    assert site.send("POST", "/api/v1/login", b"{}", Cookie=viewer.cookie, Origin=viewer.own, **JSON).status == 403


def test_viewers_do_not_push_the_owner_out(site: Any, passwords: PasswordFile) -> None:
    made = logins()
    owner = made.begin("owner", "", 0.0)
    for _ in range(2 * MAX_SESSIONS):
        made.begin("viewer", "", 0.0)
    assert made.role(owner, 0.0) == "owner"


@pytest.mark.parametrize(
    "key", ["hook.command", "hook.url", "node.web_address", "node.listen_v4", "node.web_login_owners"]
)
def test_no_browser_opens_another_way_in(site: Any, passwords: PasswordFile, key: str) -> None:
    owner, before = entered(site, OWNERS), site.service.owner.file
    told = owner.post("/owner/settings", {"setting": key, "value": "/bin/sh"}).headers["location"]
    assert "accepted" not in told and "cannot+be+changed+here" in told and site.service.owner.file == before
    order = json.dumps({"key": key, "value": "/bin/sh"}).encode()
    assert site.send("POST", "/api/v1/settings", order, Cookie=owner.cookie, Origin=owner.own, **JSON).status == 400


def test_no_browser_makes_itself_a_link(site: Any, passwords: PasswordFile, token: str) -> None:
    for browser in (entered(site, OWNERS), linked(site, token)):
        sent = {"Cookie": browser.cookie, "Origin": browser.own, **JSON}
        assert site.send("POST", "/api/v1/login", b"{}", **sent).status == 403


HEADER = {"web_login_header": "Remote-User", "web_login_owners": ("ann",), "web_login_viewers": ("ben",)}


def ask_from(site: Any, address: str, method: str = "GET", path: str = "/owner", **headers: str) -> int:
    """Ask from another address of this machine, as a proxy does."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10, source_address=(address, 0))
    try:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        connection.request(method, path, b"paused=1" if method == "POST" else None, named)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def test_a_proxy_logs_in_by_its_header(start: Any) -> None:
    site = start(web_login_proxies=("127.0.0.2",), **HEADER)
    form = {"Content_Type": FORM, "Origin": f"http://127.0.0.1:{site.port}"}
    pause = ("127.0.0.2", "POST", "/owner/pause")
    assert [ask_from(site, "127.0.0.2", Remote_User=name) for name in ("ann", "ben", "eve", "")] == [200, 200, 401, 401]
    assert ask_from(site, *pause, Remote_User="ben", **form) == 403 and not site.service.is_paused
    assert ask_from(site, *pause, Remote_User="ann", **form | {"Origin": "http://evil.test"}) == 401
    assert not site.service.is_paused, "another site's page may not use the proxy's login"
    assert ask_from(site, *pause, Remote_User="ann", **form) == 303 and site.service.is_paused


def test_nobody_else_logs_in_by_that_header(start: Any) -> None:
    site = start(web_login_proxies=("127.0.0.2",), web_trusted_proxies=("127.0.0.1",), **HEADER)
    for forged in ({}, {"X_Forwarded_For": "127.0.0.2"}, {"Forwarded": "for=127.0.0.2"}, {"X_Real_IP": "127.0.0.2"}):
        for stranger in ("127.0.0.1", "127.0.0.3"):
            assert ask_from(site, stranger, Remote_User="ann", **forged) == 401
    assert ask_from(start(), "127.0.0.1", Remote_User="ann") == 401, "it is off by default"


def test_a_header_that_is_there_twice_is_no_login(start: Any) -> None:
    site = start(web_login_proxies=("127.0.0.1",), **HEADER)
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    connection.putrequest("GET", "/owner")
    for name in ("ann", "ann"):
        connection.putheader("Remote-User", name)
    connection.endheaders()
    assert connection.getresponse().status == 401
    connection.close()
