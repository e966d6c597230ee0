"""`crawl --explain` and the summary of a job name the reason of each page in plain words."""

import io
import zipfile

from crawl import UrlStatus
from node.jobs.explain_verdict import Facts, verdict
from node.jobs.job_wait import JobWait
from tests.crawl.web.raw_sites import PAGE, RawSites, html, moved, ok
from tests.crawl.web.test_odd_heads import LENGTH, POLICY, TYPE
from tests.crawl.web.test_redirects import SET, refreshed, rules
from tests.crawl.world import Crawl, seed

SITE = "http://s1.test"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
WORD = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SHELL = b"<title>App</title><div id=root></div><script src=/app.js></script><noscript>You need JavaScript.</noscript>"


def typed(media_type: bytes, body: bytes = PAGE, *lines: bytes) -> bytes:
    return ok(b"Content-Type: " + media_type, *lines, body=body)


def asking(content: str) -> bytes:
    return html(f"<title>t</title><meta name=robots content='{content}'><p>words of the page".encode())


def odt(*names: str) -> bytes:
    """A text document with these parts, none of which says anything."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name in names:
            file.writestr(name, "<a/>")
    return packed.getvalue()


REASONS = {  # path: what the site answers, and how it is explained
    "/large-head": (
        ok(POLICY * 8, TYPE, LENGTH),
        "last 0 s ago: protocol: the server's header is over 64 kB",
    ),
    "/many-lines": (ok(*[b"X: y"] * 501, TYPE, LENGTH), "the server's header has more than 500 lines"),
    "/lengths": (ok(TYPE, LENGTH, b"Content-Length: 9"), "the server gives 2 different lengths of one page"),
    "/chunks": (ok(TYPE, b"Transfer-Encoding: chunked"), "the body's chunks cannot be told apart"),
    "/smtp": (b"220 mail.test ESMTP\r\n\r\n", "the answer is no HTTP"),
    "/empty": (b"", "connection: closed without an answer"),
    "/coding": (typed(b"text/html", PAGE, b"Content-Encoding: br"), "content coding 'br', which we did not offer"),
    "/no-gzip": (typed(b"text/html", PAGE, b"Content-Encoding: gzip"), "refused 0 s ago: coding: not gzip"),
    "/large": (typed(b"text/html", b"x" * 5_000_000), "size: larger than 4194304 bytes"),
    "/nothing": (ok(TYPE, status=b"204 No Content", body=b""), "refused 0 s ago: status 204"),
    "/gone": (ok(TYPE, status=b"410 Gone"), "gone 0 s ago: status 410"),
    "/itself": (moved("/itself"), "refused 0 s ago: redirect to itself"),
    "/cookies": (moved("/cookies", SET), "redirect to itself"),
    "/mail": (moved("mailto:a@a.test"), "redirect to what cannot be fetched: mailto:a@a.test"),
    "/nowhere": (ok(status=b"302 Found", body=b""), "redirect without a target"),
    "/old": (moved("/new"), f"redirected to {SITE}/new 0 s ago"),
    "/barred": (moved("/barred?PHPSESSID=1"), "redirect to what robots.txt disallows"),
    "/private": (html(PAGE), "refused 0 s ago: robots"),
    "/meta": (refreshed("/new"), f"moved by a meta refresh to {SITE}/new 0 s ago"),
    "/header": (ok(TYPE, b"Refresh: 0; url=/new"), f"moved by a Refresh header to {SITE}/new 0 s ago"),
    "/script": (html(SHELL), "fetched 0 s ago: needs JavaScript, which is not run"),
    "/macros": (typed(b"application/vnd.ms-word.document.macroEnabled.12", odt("a")), ", an office file with macros"),
    "/macros.odt": (
        typed(b"application/vnd.oasis.opendocument.text", odt("content.xml", "Basic/x.xml")),
        "office file: it has macros",
    ),
    "/old.doc": (typed(b"application/msword", OLE), "application/msword, of old Word or with a password"),
    "/key.docx": (typed(WORD, OLE), "office file: it is of an old Office program, or needs a password"),
    "/cut.docx": (typed(WORD, odt("word/document.xml")[:50]), "office file: it is cut off or broken"),
    "/no.pdf": (typed(b"application/pdf"), "media type: application/pdf, but it is no PDF"),
    "/image": (typed(b"image/png", b"\x89PNG\r\n\x1a\n"), "refused 0 s ago: media type: image/png"),
    "/binary": (typed(b"text/plain", b"\0\1\2" * 500), "media type: text/plain, but it is no text"),
    "/noindex": (asking("noindex"), "gone 0 s ago: noindex: the page asks not to be found"),
    "/until": (
        asking("unavailable_after: 2010-06-25"),
        "gone 0 s ago: unavailable_after: the page asks not to be found any",
    ),
    "/nosnippet": (asking("nosnippet"), "fetched 0 s ago: no text of it is shown (nosnippet)"),
    "/max": (asking("max-snippet:50"), "at most 50 characters of it are shown (max-snippet)"),
    "/images": (asking("noimageindex"), "its images are left out (noimageindex)"),
    "/wishes": (
        typed(b"text/html", PAGE, b"X-Robots-Tag: noarchive, nofollow"),
        "its links are not followed (nofollow); no copy of it is shown (noarchive)",
    ),
    "/plain": (asking("index, follow, max-snippet:-1"), "fetched 0 s ago; due again"),
}


async def test_each_page_has_its_reason_and_the_summary_of_a_job_counts_them(sites: RawSites, crawl: Crawl) -> None:
    sites.answers = {f"{SITE}{path}": answer for path, (answer, _) in REASONS.items()} | {f"{SITE}/new": html(PAGE)}
    sites.answers[f"{SITE}/robots.txt"] = rules("Disallow: /private", "Disallow: /*PHPSESSID")
    await crawl.run(*(seed(sites.url(f"{SITE}{path}")) for path in REASONS), within_s=20.0)
    visits = {path: crawl.owner.visits[sites.url(f"{SITE}{path}")] for path in REASONS}
    told = {
        path: verdict(Facts("", visit, "", False, UrlStatus(), False), visit.visited_at)[1].replace(
            f":{sites.port}", ""
        )
        for path, visit in visits.items()
    }
    assert {path: told[path] for path, (_, words) in REASONS.items() if words not in told[path]} == {}
    job = JobWait([{"url": path} for path in REASONS])
    job.take(job.ask(99), [{"state": visit.state.name.lower(), "reason": visit.reason} for visit in visits.values()])
    assert job.is_done
    for reason in (visit.reason for visit in visits.values() if visit.reason):
        assert job.reasons[reason] >= 1
    assert sum(job.reasons.values()) == len(REASONS) - len(NO_REASON), "what is as anybody expects has none"


NO_REASON = ("/old", "/plain")
