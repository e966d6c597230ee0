"""The publisher's pages over real HTTP: a change in words, its effect, its signature here or elsewhere."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from dht import Identity, Rule, Strategy, add_signature, decode_signed, encode_signed, parse_document, sign_strategy
from node.config.data_dir import DataDir
from node.owner.passwords import PasswordFile
from node.strategy.kept_drafts import MAX_KEPT
from node.strategy.typed_change import FIELDS
from node.web.owner.login import FRESH_S
from node.web.requests.strategy_routes import STRATEGY_ROUTES
from tests.node.web.browsers import Browser, entered, linked, type_password

PUBLISHER, OTHER = Identity(b"p" * 32), Identity(b"q" * 32)
LOST = {"node": "ab" * 20, "reason": "it is blocked <b>"}
PASSWORD = "correct horse battery"
CHANGE, SIGN, UPLOAD = ("/owner/strategy/change", "/owner/strategy/sign", "/owner/strategy/upload")


@pytest.fixture
def publisher(owner: Any, tmp_path: Path) -> Any:
    """A logged-in browser of a node whose machine holds a publisher's key."""
    (tmp_path / "keys").mkdir()
    PUBLISHER.save(tmp_path / "keys" / "campus.publisher.key")
    owner.service.in_force = {"publishers": (PUBLISHER.public_key.hex(), OTHER.public_key.hex()), "threshold": 1}
    return owner


def led(reply: Any) -> dict[str, str]:
    assert reply.status == 303, reply.text
    return {name: texts[0] for name, texts in parse_qs(urlsplit(reply.headers["location"]).query).items()}


def drafted(browser: Any, **fields: Any) -> tuple[str, str]:
    """The digest of a new draft, and its page."""
    digest = led(browser.post(CHANGE, fields)).get("draft", "")
    return digest, browser.get(f"/owner/strategy/draft?draft={digest}").text


def upload(browser: Any, body: bytes, name: str = "signed", **headers: str) -> Any:
    told = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="s.json"\r\n\r\n'.encode()
    kind = {"Origin": browser.own, "Cookie": browser.cookie, "Content_Type": "multipart/form-data; boundary=b"}
    return browser.site.send("POST", UPLOAD, told + body + b"\r\n--b--\r\n", **{**kind, **headers})


def test_one_click_denies_one_address(publisher: Any) -> None:
    one_page = {"deny": "http://example.org/a?b=1$", "at_once": "1"}
    assert led(publisher.post(CHANGE, one_page)) == {"published": "4"}
    (rule,) = parse_document(decode_signed(publisher.service.published[0]).document).rules
    assert rule == Rule(action="deny", host="example.org", pattern=r"^https?://example\.org/a\?b=1$")


def test_a_host_is_denied_in_four_requests(publisher: Any) -> None:
    page = publisher.get("/owner/strategy").text
    base = re.findall(r'name="base" value="(\w+)"', page)[0]
    digest, shown = drafted(publisher, base=base, deny="Example.org")
    assert "+ rule 1" not in shown, "the fake node tells no changes"
    assert "12 of 256 slots" in shown and publisher.service.published == []
    told = led(publisher.post(SIGN, {"draft": digest}))
    assert told == {"published": "4"} and "Version 4 is published" in publisher.get("/owner/strategy?published=4").text
    signed = decode_signed(publisher.service.published[0])
    strategy = parse_document(signed.document)
    assert strategy.rules == (Rule(action="deny", host="example.org"),)
    assert [each.key for each in signed.signatures] == [PUBLISHER.public_key.hex()]
    assert sign_strategy(signed.document, PUBLISHER) == signed, "the signature is the publisher's"


def test_the_form_says_all_that_a_publisher_changes(publisher: Any) -> None:
    rules = (Rule(action="deny", host="old.test"), Rule(action="deny", host="older.test"))
    publisher.service.in_force |= {"rules": rules, "blocked": ("cc" * 20,)}
    page = publisher.get("/owner/strategy").text
    assert "deny old.test" in page and 'name="drop" value="2"' in page and f'name="unblock" value="{"cc" * 20}"' in page
    digest, _ = drafted(
        publisher,
        deny="https://münchen.example/private/",
        drop=2,
        crawled="*.uni.test",
        crawler="c0ffee",
        delay="Slow.test = 2.5",
        spread="big.test=3",
        only="10.20.0.0/16, 2001:db8::/48",
        never="never.test=192.0.2.0/24",
        block="ab" * 20,
        unblock="CC" * 20,
        gone="dd" * 20,
        field="replicas",
        value="4",
    )
    led(publisher.post(SIGN, {"draft": digest}))
    strategy = parse_document(decode_signed(publisher.service.published[0]).document)
    denied, slow, spread, only, never, named, kept = strategy.rules
    assert denied.host == "xn--mnchen-3ya.example" and denied.pattern and "/private/" in denied.pattern
    assert (named.host, named.peer) == ("*.uni.test", "c0ffee0123456789c0ffee0123456789c0ffee01")
    assert slow == Rule(host="slow.test", min_delay_s=2.5) and spread == Rule("spread", "big.test", depth=3)
    assert only == Rule("only", prefixes=("10.20.0.0/16", "2001:db8::/48"))
    assert never == Rule("never", "never.test", prefixes=("192.0.2.0/24",))
    assert [each.id for each in strategy.gone] == ["dd" * 20] and not set(re.findall(r'<input name="(\w+)"', page)) ^ (
        set(FIELDS) - {"drop", "field"}
    ), "the form has a field for each change"
    assert kept == rules[0] and strategy.blocked == ("ab" * 20,) and strategy.replicas == 4


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "changes nothing"),
        ({"deny": "a b"}, "not a host"),
        ({"deny": "example.org/private"}, "not a host"),
        ({"deny": "https://*.example.org/private"}, "its host is none"),
        ({"deny": "a.test", "base": "00" * 32}, "is the newest by now"),
        ({"drop": "1"}, "not a rule's number"),
        ({"crawled": "a.test", "crawler": "nobody"}, "name of no member"),
        ({"crawled": "a.test"}, "name of no member"),
        ({"crawler": "c0ffee"}, "not a host"),
        ({"unblock": "ab" * 20}, "is not blocked"),
        ({"block": "zz" * 20}, "blocked"),
        ({"gone": "nobody"}, "name of no member"),
        ({"delay": "a.test"}, "write HOST=SECONDS"),
        ({"delay": "a.test=soon"}, "not a number of seconds"),
        ({"delay": "a.test=999999"}, "min_delay_s"),
        ({"spread": "a.test=x"}, "not a whole number"),
        ({"spread": "a.test=9"}, "depth"),
        ({"only": "10.20.0.1/16"}, "did you mean 10.20.0.0/16"),
        ({"never": "a.test="}, "names no prefix"),
        ({"field": "replicas"}, "left empty"),
        ({"field": "replicas", "value": "many"}, "replicas"),
        ({"field": "replicas", "value": "99"}, "replicas"),
        ({"field": "version", "value": "9"}, "not for"),
        ({"field": "slot_bit", "value": "9"}, "did you mean slot_bits"),
    ],
)
def test_a_change_that_cannot_be_is_said_beside_the_form(publisher: Any, fields: dict[str, str], said: str) -> None:
    told = led(publisher.post(CHANGE, fields))
    assert said in told["refused"] and not told["refused"].startswith("--")
    assert said.partition("'")[0] in publisher.get(f"/owner/strategy?refused={said.replace(' ', '+')}").text


def test_many_members_are_put_out_only_where_their_number_is_typed(publisher: Any) -> None:
    publisher.service.effect = {"stay": ["cd" * 20], "lost": [LOST, LOST]}
    digest, page = drafted(publisher, block="ab" * 20)
    assert "It puts out 2 present members" in page and "it is blocked &lt;b&gt;" in page
    for lose in ({}, {"lose": "1"}, {"lose": "3"}):
        assert "puts out 2 of 3" in led(publisher.post(SIGN, {"draft": digest, **lose}))["refused"]
    assert publisher.service.published == []
    assert "published" in led(publisher.post(SIGN, {"draft": digest, "lose": "2"}))
    publisher.service.effect = {"stay": [], "lost": [LOST]}
    digest, page = drafted(publisher, block="ab" * 20)
    assert SIGN not in page and "leaves nobody" in led(publisher.post(SIGN, {"draft": digest, "lose": "1"}))["refused"]


def test_the_other_rules_of_signing_hold_too(publisher: Any) -> None:
    digest, page = drafted(publisher, field="index_copies", value="1")
    assert 'name="one_index"' in page and "index_copies" in led(publisher.post(SIGN, {"draft": digest}))["refused"]
    assert "published" in led(publisher.post(SIGN, {"draft": digest, "one_index": "1"}))
    digest, _ = drafted(publisher, field="slot_bits", value="12")
    assert "would not fit" in led(publisher.post(SIGN, {"draft": digest}))["refused"]


def test_the_node_signs_only_a_moment_after_the_login(publisher: Any, token: str) -> None:
    digest, page = drafted(publisher, deny="a.test")
    assert "dse-node open" not in page
    loop = publisher.site.loop
    now = loop.time
    loop.time = lambda: now() + FRESH_S + 1
    try:
        assert "older than five minutes" in led(publisher.post(SIGN, {"draft": digest}))["refused"]
        told = led(publisher.post(CHANGE, {"deny": "b.test", "at_once": "1"}))
        assert "older than five minutes" in told["refused"] and told["draft"] and not publisher.service.published
        assert "run dse-node open" in publisher.get(f"/owner/strategy/draft?draft={digest}").text
        assert publisher.service.published == [], "what was asked since the login does not make it newer"
        fresh = linked(publisher.site, token)
        assert f"draft={digest}" in fresh.get("/owner/strategy").text, "the draft waits for the new login"
        assert led(fresh.post(SIGN, {"draft": digest})) == {"published": "4"}
    finally:
        loop.time = now


def test_from_afar_it_signs_only_a_moment_after_the_password_was_typed(
    start: Any, publisher: Any, tmp_path: Path
) -> None:
    PasswordFile(DataDir(tmp_path).passwords).set("owner", PASSWORD)
    site = start(web_login_header="Remote-User", web_login_proxies=("127.0.0.1",), web_login_owners=("ann",))
    site.service.in_force = publisher.service.in_force
    loop, now = site.loop, site.loop.time
    by_password, by_proxy = entered(site, PASSWORD), Browser(site, "")
    ann = {"Remote_User": "ann"}
    digest, _ = drafted(by_password, deny="a.test")
    try:
        loop.time = lambda: now() + FRESH_S + 1
        for browser, headers in ((by_password, {}), (by_proxy, ann), (by_password, ann)):
            assert "older than five minutes" in led(browser.post(SIGN, {"draft": digest}, **headers))["refused"]
            assert "Type the password again" in browser.get(f"/owner/strategy/draft?draft={digest}", **headers).text
        assert type_password(site, "a wrong password", Cookie=by_password.cookie).status == 403
        assert "older than five minutes" in led(by_password.post(SIGN, {"draft": digest}))["refused"]
        loop.time = lambda: now() + FRESH_S + 5
        fresh = entered(site, PASSWORD, Cookie=by_password.cookie)
        assert by_password.get("/owner").status == 401, "the new login takes the place of the old one"
        assert site.service.published == [] and led(fresh.post(SIGN, {"draft": digest}, **ann)) == {"published": "4"}
    finally:
        loop.time = now


def test_the_token_alone_signs_nothing(publisher: Any, token: str) -> None:
    digest, _ = drafted(publisher, deny="a.test")
    form = {"Authorization": f"Bearer {token}", "Content_Type": "application/x-www-form-urlencoded"}
    reply = publisher.site.send("POST", SIGN, f"draft={digest}".encode(), **form)
    assert "older than five minutes" in led(reply)["refused"] and publisher.service.published == []


def test_where_the_key_is_elsewhere_the_draft_is_downloaded_signed_and_uploaded(owner: Any) -> None:
    owner.service.in_force = {"publishers": (PUBLISHER.public_key.hex(),)}
    digest, page = drafted(owner, deny="a.test")
    assert SIGN not in page and "dse-node strategy sign strategy-4.json --key PUBLISHER.key" in page
    assert "not on this machine" in led(owner.post(SIGN, {"draft": digest}))["refused"]
    file = owner.get(f"/owner/strategy/file?draft={digest}")
    assert file.headers["content-disposition"] == 'attachment; filename="strategy-4.json"'
    document = file.body.rstrip(b"\n")
    assert led(upload(owner, encode_signed(sign_strategy(document, PUBLISHER)))) == {"published": "4"}
    assert parse_document(decode_signed(owner.service.published[0]).document).rules[0].host == "a.test"


def test_several_publishers_sign_one_after_the_other(publisher: Any) -> None:
    publisher.service.in_force |= {"threshold": 2}
    digest, page = drafted(publisher, deny="a.test")
    assert "2 of 2 signatures are missing" in page
    assert led(publisher.post(SIGN, {"draft": digest})) == {"draft": digest}
    assert "1 of 2 signatures are missing" in publisher.get(f"/owner/strategy/draft?draft={digest}").text
    half = decode_signed(publisher.get(f"/owner/strategy/file?draft={digest}").body)
    body = encode_signed(sign_strategy(half.document, OTHER))
    assert led(upload(publisher, body)) == {"published": "4"}, "each signed the draft by itself"
    keys = {each.key for each in decode_signed(publisher.service.published[0]).signatures}
    assert keys == {PUBLISHER.public_key.hex(), OTHER.public_key.hex()}
    assert add_signature(half, OTHER).digest == digest


def test_an_uploaded_version_that_puts_many_out_is_looked_at_first(publisher: Any) -> None:
    digest, _ = drafted(publisher, block="ab" * 20)
    document = publisher.get(f"/owner/strategy/file?draft={digest}").body.rstrip(b"\n")
    publisher.service.effect = {"stay": ["cd" * 20], "lost": [LOST, LOST]}
    told = led(upload(publisher, encode_signed(sign_strategy(document, PUBLISHER))))
    assert told["draft"] == digest and "puts out 2 of 3" in told["refused"] and publisher.service.published == []
    assert "published" in led(publisher.post(SIGN, {"draft": digest, "lose": "2"}))


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[]", b"{}", b'{"signatures": 1}', b'{"rulez": []}'])
def test_files_that_are_no_strategy_are_refused_in_a_sentence(publisher: Any, body: bytes) -> None:
    reply = upload(publisher, body)
    assert "refused" in led(reply) or reply.status == 400
    assert publisher.service.published == []


def test_uploads_have_bounds_and_come_from_own_pages_alone(publisher: Any) -> None:
    assert upload(publisher, b"{}", name="other").status == 400
    assert upload(publisher, b"{" * ((1 << 20) + 9)).status == 400
    assert upload(publisher, b"{}", Content_Type="application/json").status == 400
    assert upload(publisher, b"{}", Content_Type="multipart/form-data").status == 400
    assert upload(publisher, b"{}", Origin="http://evil.test").status == 401
    assert publisher.post(CHANGE, {"deny": "a.test"}, Origin="http://evil.test").status == 401
    assert all(route.needs_token for route in STRATEGY_ROUTES)


def test_a_draft_that_others_came_before_is_not_signed(publisher: Any) -> None:
    digest, _ = drafted(publisher, deny="a.test")
    strategy = publisher.service.strategy

    async def newer(which: str = "") -> Any:
        return {**await strategy(which), "version": 4, "digest": "ad" * 32}

    publisher.service.strategy = newer
    assert "does not follow version 4" in led(publisher.post(SIGN, {"draft": digest}))["refused"]
    assert b"signatures" not in publisher.get(f"/owner/strategy/file?draft={digest}").body
    publisher.get("/owner/strategy")
    assert publisher.get(f"/owner/strategy/file?draft={digest}").status == 400, "it is forgotten"


def test_drafts_are_few_and_old_ones_are_said_to_be_gone(publisher: Any) -> None:
    first, _ = drafted(publisher, deny="first.test")
    for number in range(MAX_KEPT):
        drafted(publisher, deny=f"n{number}.test")
    assert "not here any more" in led(publisher.get(f"/owner/strategy/draft?draft={first}"))["refused"]
    assert "not here any more" in led(publisher.post(SIGN, {"draft": first}))["refused"]
    assert publisher.get(f"/owner/strategy/file?draft={first}").status == 400


@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_pages_stay_small_with_the_longest_rules(publisher: Any, tongue: str) -> None:
    pattern = "'" * 120
    rules = tuple(Rule(action="deny", host=f"h{n}.test", pattern=pattern) for n in range(1000))
    publisher.service.in_force |= {"rules": rules, "blocked": tuple(f"{n:040x}" for n in range(1000))}
    lost = [{"node": f"{n:040x}", "reason": "<" * 300} for n in range(1000)]
    publisher.service.effect = {"stay": [f"{n:040x}" for n in range(1000)], "lost": lost, "notes": ["&" * 300] * 99}
    digest, page = drafted(publisher, field="replicas", value="4")
    pages = [page, *(publisher.get(f"/owner/strategy?{q}", Accept_Language=tongue).text for q in ("", "version=3"))]
    assert all(len(page.encode()) < 100_000 for page in pages) and digest
    assert "deny h30.test" in publisher.get("/owner/strategy?from=30").text


def test_a_chinese_reader_sees_changes_and_effect_in_chinese(publisher: Any) -> None:
    publisher.service.in_force |= {"rules": (Rule(action="deny", host="old.test"),)}
    assert "禁止 old.test" in publisher.get("/owner/strategy", Accept_Language="zh").text
    digest, _ = drafted(publisher, block="ab" * 20)
    page = publisher.get(f"/owner/strategy/draft?draft={digest}", Accept_Language="zh").text
    assert "256 个槽中的 12 个" in page and "slots" not in page


def test_the_history_says_what_a_version_changed(publisher: Any) -> None:
    async def strategy(which: str = "") -> Any:
        version = int(which) if which.isdigit() else 3
        rules = (Rule(action="deny", host="a.test"),) if version > 2 else ()
        found = Strategy(network="ab" * 20, version=version, effective_at=1, expires_at=2, next_at=2, rules=rules)
        return {**msgspec.to_builtins(found), "digest": "ef" * 32}

    publisher.service.strategy = strategy
    page = publisher.get("/owner/strategy?version=3").text
    assert "What version 3 changed" in page and "+ rule 1" in page and "deny a.test" in page
    assert "the first version" in publisher.get("/owner/strategy?version=1").text
