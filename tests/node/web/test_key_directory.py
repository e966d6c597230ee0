"""The directory of keys: those of the members and no others, in the form that verifiers read, shown as this node's."""

import base64
import io
import json
import sys
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from crawl import RequestSigner
from dht import CrawlerKey, Identity, crawler_key_of, json_web_key, system_clock
from tests.node.conftest import MEMBER, OWN

PATH = "/.well-known/http-message-signatures-directory"
EXAMPLE = Path(__file__).parents[3] / "examples" / "verify_crawler.py"
LISTED = [json_web_key(crawler_key_of(each.public_key) or b"") for each in (OWN, MEMBER)]


def test_it_lists_this_node_and_the_members(site: Any) -> None:
    answer = site.get(PATH)
    assert answer.status == 200 and json.loads(answer.body) == {"keys": LISTED}
    assert answer.headers["content-type"] == "application/http-message-signatures-directory+json"
    assert answer.headers["cache-control"] == "public, max-age=900"


def test_it_gives_one_key_by_its_name(site: Any) -> None:
    assert json.loads(site.get(f"{PATH}?keyid={LISTED[1]['kid']}").body) == {"keys": LISTED[1:]}
    assert json.loads(site.get(f"{PATH}?keyid=nobody").body) == {"keys": []}


@pytest.mark.parametrize(
    ("asked", "authority"),
    [
        ({}, "127.0.0.1:{port}"),
        ({"Host": "Search.example.edu", "X-Forwarded-Proto": "https"}, "search.example.edu"),
        ({"X-Forwarded-Host": "search.example.edu:443", "X-Forwarded-Proto": "https"}, "search.example.edu"),
        ({"X-Forwarded-Host": "evil.example"}, "127.0.0.1:{port}"),
    ],
)
def test_it_is_signed_for_the_host_that_was_asked(start: Any, asked: dict[str, str], authority: str) -> None:
    site = start(web_names=("search.example.edu",), web_trusted_proxies=("127.0.0.1",))
    answer = site.get(PATH, **asked)
    digest = f"sha-256=:{base64.b64encode(sha256(answer.body).digest()).decode()}:"
    assert answer.headers["content-digest"] == digest
    stated = answer.headers["signature-input"].removeprefix("sig1=")
    assert 'tag="http-message-signatures-directory"' in stated and f'keyid="{LISTED[0]["kid"]}"' in stated
    host = authority.format(port=site.port)
    base = f'"@authority";req: {host}\n"content-digest": {digest}\n"@signature-params": {stated}'
    signature = base64.b64decode(answer.headers["signature"].removeprefix("sig1=:").removesuffix(":"))
    key = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(f"{LISTED[0]['x']}=="))
    key.verify(signature, base.encode())
    assert site.get(PATH, Host="evil.example").status == 421, "nobody gets it signed for another host"


@pytest.mark.parametrize(("identity", "status"), [(MEMBER, 0), (Identity(b"s" * 32), 1)])
def test_a_site_checks_a_request_by_the_script(
    site: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], identity: Identity, status: int
) -> None:
    spec = spec_from_file_location("verify_crawler", EXAMPLE)
    assert spec is not None and spec.loader is not None
    example = module_from_spec(spec)
    spec.loader.exec_module(example)
    signer = RequestSigner(CrawlerKey(identity), "https://dse.example.edu", system_clock, bytes)
    fields = {"Host": "a.example", "User-Agent": "dse-node/1", **signer.fields("https://a.example/b?c", "dse-node/1")}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"GET /b?c HTTP/1.1\r\n{lines}\r\n"))
    monkeypatch.setattr(sys, "argv", ["verify_crawler.py", f"http://127.0.0.1:{site.port}"])
    assert example.main() == status
    said = capsys.readouterr().out
    assert said == (
        "not a member's request: its key is no member's\n"
        if status
        else f"a member's request, signed by {LISTED[1]['kid']}\n"
    )
