"""Notes the fields of a request to a site in a few bytes: the fields that all requests share are named by a number.

Pure. A GET of ours has its target and Host from its URL, User-Agent, the fields of a form, and perhaps validators. A
request with any other field has no such note. So a request written from a note is equal to the sent one, byte for byte.
Only the signature is left out, which is long and valid for minutes.
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from dht import split_url

Fields = tuple[tuple[str, str], ...]
MAX_AGENT_CHARS = 512  # of User-Agent, with the page about the crawler in it
MAX_VALIDATOR_CHARS = 1024  # as a visit keeps them
FORM = 1  # of what is sent today
FORMS: Mapping[int, Fields] = MappingProxyType(  # a number means the same for ever: other fields get another number
    {
        1: (
            ("Accept", "text/html,application/xhtml+xml;q=0.9,text/plain;q=0.8,application/pdf;q=0.7,*/*;q=0.1"),
            ("Accept-Encoding", "gzip, deflate"),  # what content_codings.py undoes
        )
    }
)
_VALIDATORS = ("If-None-Match", "If-Modified-Since")  # in the order in which they are sent


class SentRequest(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a GET besides its URL; the validators are "" where it had none."""

    form: int
    agent: str
    if_none_match: str = ""
    if_modified_since: str = ""


def request_fields(url: str, sent: SentRequest) -> Fields:
    """Return the header fields of a request for a canonical URL, none where its form is of a later version."""
    if sent.form not in FORMS:
        return ()
    told = zip(_VALIDATORS, (sent.if_none_match, sent.if_modified_since), strict=True)
    validators = tuple((name, value) for name, value in told if value)
    return (("Host", split_url(url).site), ("User-Agent", sent.agent), *FORMS[sent.form], *validators)


def read_request(url: str, fields: Fields) -> SentRequest | None:
    """Return the note of a request for a canonical URL, None where a note cannot say all of it."""
    said = dict(fields)
    for form in FORMS:
        sent = SentRequest(form, said.get("User-Agent", ""), *(said.get(name, "") for name in _VALIDATORS))
        if _is_bounded(sent) and request_fields(url, sent) == fields:
            return sent
    return None


def read_sent_head(url: str, head: bytes) -> SentRequest | None:
    """Return the note of a request's head as it was sent, None where a note cannot say all of it."""
    first, *lines = head.decode("utf-8", "replace").removesuffix("\r\n\r\n").split("\r\n")
    if first != f"GET {request_target(url)} HTTP/1.1":
        return None
    parts = (line.partition(": ") for line in lines)
    return read_request(url, tuple((name, value) for name, _, value in parts))


def request_target(url: str) -> str:
    """Return what a request for a canonical URL asks its site for."""
    parts = split_url(url)
    return url[len(f"{parts.scheme}://{parts.site}") :] or "/"


def _is_bounded(sent: SentRequest) -> bool:
    validators = (sent.if_none_match, sent.if_modified_since)
    is_short = 0 < len(sent.agent) <= MAX_AGENT_CHARS and max(map(len, validators)) <= MAX_VALIDATOR_CHARS
    return is_short and all(text.isprintable() for text in (sent.agent, *validators))
