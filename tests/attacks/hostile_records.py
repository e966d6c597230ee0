"""Records that say what none may: signed, at the place of their URL, and wrong in one thing each."""

import msgspec
from msgspec.structs import replace

from crawl import Visit, VisitState, encode_visit, reach
from dht import DocumentId, Key, document_id, placement_key
from store import (
    Document,
    Draft,
    HostAlias,
    HostRecord,
    Kind,
    encode_document,
    encode_host,
    host_url,
)
from tests.store.support import DAY, WALL

PAGE = Document("https://bank.example/", WALL, 200, text="harmless words", title="Bank")
AT_MS = int(WALL * 1000)
URLS = {
    "a script": "javascript:alert(1)",
    "data": "data:text/html,<script>alert(1)</script>",
    "a file": "file:///etc/passwd",
    "another protocol": "ftp://bank.example/",
    "a second header": "https://bank.example/\r\nSet-Cookie: a=b",
    "a new line": "https://bank.example/\nx",
    "credentials": "https://user:password@bank.example/",
    "a user": "https://user@bank.example/",
    "nothing": "",
    "no host": "https:///path",
    "upper case": "https://BANK.example/",
    "a default port": "https://bank.example:443/",
    "port 0": "https://bank.example:0/",
    "a fragment": "https://bank.example/#part",
    "no path": "https://bank.example",
    "dot segments": "https://bank.example/a/../b",
    "white space": "https://bank.example/a b",
    "a tab": "https://bank.example/a\tb",
    "a reversed line": "https://bank.example/\u202egnp.exe",
    "a zero byte": "https://bank.example/\0",
    "no address": "http://[v1.\u202e]/",
    "letters of another script": "https://b\u0430nk.example/",
    "too much": "https://bank.example/" + "a" * 2048,
}
DOCUMENTS: dict[str, dict[str, object]] = {
    "fetched tomorrow": {"fetched_at": WALL + 90_000.0},
    "published next year": {"published_at": WALL + 3e7},
    "changed never": {"modified_at": float("inf")},
    "a title like a book": {"title": "x" * 5_000},
    "a description like a book": {"description": "x" * 5_000},
    "headings without end": {"headings": ("x",) * 5_000},
    "a heading like a book": {"headings": ("x" * 5_000,)},
    "headers without end": {"headers": (("x", "y" * 20_000),)},
    "a language that is none": {"language": "en\r\nx: y"},
    "a language like a word": {"language": "x" * 40},
    "a long type": {"media_type": "text/html" * 99},
    "a long charset": {"charset": "u" * 99},
    "a status that is none": {"status": 70_000},
    "a link that runs": {"links": (("javascript:alert(1)", "here"),)},
    "a link of two lines": {"links": (("https://a.example/\r\nx", "here"),)},
    "a link with a long text": {"links": (("https://a.example/", "x" * 5_000),)},
    "a long signature": {"signature": bytes(999)},
    "gone, with a text": {"gone": True},
    "a snippet of less than nothing": {"max_snippet": -7},
}
VISIT = Visit("https://bank.example/", 3, 0, VisitState.FETCHED, due_at=WALL + 60.0, visited_at=WALL, status=200)
VISITS: dict[str, dict[str, object]] = {
    "header fields in a tag": {"etag": '"x"\r\nHost: other.example'},
    "header fields in a date": {"last_modified": "x\nHost: other.example"},
    "a target that runs": {"target": "javascript:alert(1)", "state": VisitState.REDIRECT},
    "a target of two lines": {"target": "https://a.example/\r\n", "state": VisitState.REDIRECT},
    "no end of depth": {"depth": 1_000_000},
    "less than no depth": {"depth": -1},
    "less than no redirects": {"hops": -1},
    "a reason like a book": {"reason": "x" * 5_000},
    "a tag like a book": {"etag": "x" * 5_000},
    "a long scope": {"scope": "a" * 3_000},
    "a scope of two lines": {"scope": "a.example\nb"},
    "due never again": {"due_at": WALL + 1e10},
    "due at no time": {"due_at": float("nan")},
    "visited tomorrow": {"visited_at": WALL + 90_000.0},
    "fails beyond counting": {"fails": 1 << 40},
}
HOST = HostRecord(host_url("bank.example"), 2, 0, WALL)
HOSTS: dict[str, HostRecord] = {
    "spread since tomorrow": replace(HOST, since=WALL + 90_000.0),
    "less deep than before": replace(HOST, depth=1, before=3),
    "an alias of a script": replace(HOST, aliases=(HostAlias(True, "javascript:alert(1)", WALL),)),
    "an alias in upper case": replace(HOST, aliases=(HostAlias(True, "https://EVIL.example/", WALL),)),
    "an alias with a user": replace(HOST, aliases=(HostAlias(True, "https://a@evil.example/", WALL),)),
    "an alias since tomorrow": replace(HOST, aliases=(HostAlias(True, "https://evil.example/", WALL + 90_000.0),)),
}


def draft(kind: Kind, url: str, body: bytes, epoch: int = 1, at_ms: int = AT_MS, content: bytes = b"") -> Draft:
    """Return a draft at the place of its URL, or at any place where that URL has none."""
    try:
        id, key = document_id(url), placement_key(url)
    except ValueError:
        id, key = DocumentId(bytes(20)), Key(bytes(20))
    return Draft(kind, id, key, epoch, at_ms, DAY + 30, body, content)


def page_draft(document: Document, content: bytes = b"<html>") -> Draft:
    return draft(Kind.DOCUMENT, document.url, encode_document(document), content=content)


def found_draft(visit: Visit, at_ms: int | None = None) -> Draft:
    """Return a find, as whoever reads a link writes it."""
    return draft(Kind.VISIT, visit.url, encode_visit(visit), 0, reach(visit) if at_ms is None else at_ms)


def visit_draft(visit: Visit) -> Draft:
    return draft(Kind.VISIT, visit.url, encode_visit(visit))


def host_draft(host: HostRecord, epoch: int = 1) -> Draft:
    return draft(Kind.HOST, host.url, encode_host(host), epoch)


FOUND = Visit("https://bank.example/found", 3)
GONE = Document("https://bank.example/gone", WALL, 404, gone=True)
SCRIPT = "javascript:alert(1)"
HARMLESS = {
    "a page": page_draft(PAGE),
    "an outcome": visit_draft(VISIT),
    "a find": found_draft(FOUND),
    "a find in a scope": found_draft(Visit("https://bank.example/scope", 3, scope="*.bank.example")),
    "a site that is spread": host_draft(HOST),
    "a host of another script": found_draft(Visit("https://xn--bnk-5cd.example/", 1)),
    "a page that is gone": page_draft(GONE, content=b""),
}
HOSTILE = {
    **{f"a page at {what}": page_draft(replace(PAGE, url=url)) for what, url in URLS.items()},
    **{f"a find at {what}": found_draft(replace(FOUND, url=url)) for what, url in URLS.items()},
    **{f"an outcome at {what}": visit_draft(replace(VISIT, url=url)) for what, url in URLS.items()},
    **{f"a host at {what}": host_draft(replace(HOST, url=url)) for what, url in URLS.items()},
    **{f"a page with {what}": page_draft(replace(PAGE, **each)) for what, each in DOCUMENTS.items()},
    **{f"an outcome with {what}": visit_draft(replace(VISIT, **each)) for what, each in VISITS.items()},
    **{f"a host with {what}": host_draft(host) for what, host in HOSTS.items()},
    "a host without a lease": host_draft(HOST, 0),
    "a host at a page": host_draft(replace(HOST, url="https://bank.example/page")),
    "a find that wins": found_draft(FOUND, at_ms=1 << 47),
    "a find that is an outcome": found_draft(replace(FOUND, state=VisitState.REFUSED)),
    "a find that is never due": found_draft(replace(FOUND, due_at=WALL + 1e9)),
    "a find of another kind": draft(Kind.VISIT, PAGE.url, encode_document(PAGE)),
    "a page of another kind": draft(Kind.DOCUMENT, VISIT.url, encode_visit(VISIT)),
    "a find with a content": replace(visit_draft(VISIT), content=b"x"),
    "a host with a content": replace(host_draft(HOST), content=b"x"),
    "a page that is gone with a content": page_draft(GONE),
    "a newer version's kind at a script": draft(Kind(77), SCRIPT, msgspec.msgpack.encode([SCRIPT])),
}
