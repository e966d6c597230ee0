"""A request is recorded exactly in a few bytes, or not at all."""

import pytest
from msgspec.structs import replace

from crawl.fetch.sent_request import (
    FORM,
    FORMS,
    MAX_AGENT_CHARS,
    MAX_VALIDATOR_CHARS,
    SentRequest,
    read_request,
    read_sent_head,
    request_fields,
    request_target,
)

URL = "http://a.test:8080/x?b=%20c"
SENT = SentRequest(1, "dse-node/1 (+https://a.example/bot)", '"tag"', "Tue, 24 Nov 2026 10:00:00 GMT")
HEAD = (
    b"GET /x?b=%20c HTTP/1.1\r\nHost: a.test:8080\r\nUser-Agent: dse-node/1 (+https://a.example/bot)\r\n"
    b"Accept: text/html,application/xhtml+xml;q=0.9,text/plain;q=0.8,application/pdf;q=0.7,*/*;q=0.1\r\n"
    b'Accept-Encoding: gzip, deflate\r\nIf-None-Match: "tag"\r\n'
    b"If-Modified-Since: Tue, 24 Nov 2026 10:00:00 GMT\r\n\r\n"
)


def test_a_head_gives_its_note_and_a_note_its_fields() -> None:
    assert read_sent_head(URL, HEAD) == SENT
    fields = request_fields(URL, SENT)
    lines = b"".join(f"{name}: {value}\r\n".encode() for name, value in fields)
    assert b"GET %s HTTP/1.1\r\n%s\r\n" % (request_target(URL).encode(), lines) == HEAD, "as form 1 is for ever"
    assert read_request(URL, fields) == SENT and FORM in FORMS
    plain = SentRequest(FORM, "dse-node/1")
    assert read_request("https://a.test/", request_fields("https://a.test/", plain)) == plain


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace(b"GET", b"POST"),
        HEAD.replace(b"/x?b", b"/y?b"),
        HEAD.replace(b"a.test:8080", b"b.test"),
        HEAD.replace(b"Accept:", b"Cookie: a=b\r\nAccept:"),
        HEAD.replace(b"gzip, deflate", b"br"),
        HEAD.replace(b"User-Agent: ", b"user-agent: "),
        HEAD.replace(b'"tag"', b'"t\xff"'[:3] + b'\x01"'),
        HEAD.replace(b"dse-node/1", b"x" * (MAX_AGENT_CHARS + 1)),
        HEAD.replace(b'"tag"', b"x" * (MAX_VALIDATOR_CHARS + 1)),
        b"",
    ],
)
def test_what_a_note_cannot_say_has_none(head: bytes) -> None:
    assert read_sent_head(URL, head) is None


def test_a_form_of_a_later_version_tells_nothing() -> None:
    assert request_fields(URL, replace(SENT, form=9)) == ()
