"""Pages that have their text by script are told from pages that are merely short, by both engines."""

import pytest

from crawl.content.extract import extract
from crawl.content.page import Engine, ParseTask

REACT = """<!doctype html><html lang=en><head><title>React App</title>
    <script defer src="/static/js/main.1a2b.js"></script>
    </head><body><noscript>You need to enable JavaScript to run this app.</noscript>
    <div id="root"></div></body></html>"""
VITE = """<!doctype html><html><head><title>Vite + React</title></head><body><div id="root"></div>
    <script type="module" src="/src/main.tsx"></script></body></html>"""
VUE = """<!DOCTYPE html><html lang=""><head><title>shop</title><script defer="defer" src="/js/app.js"></script></head>
    <body><noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled.</strong></noscript>
    <div id=app></div></body></html>"""
ANGULAR = """<!doctype html><html lang="en"><head><title>Tours</title><base href="/"></head><body><app-root></app-root>
    <script src="main.js" type="module"></script></body></html>"""
NUXT = """<html><head><script type="module" src="/_nuxt/entry.js" crossorigin></script></head><body>
    <div id="__nuxt">Loading…</div></body></html>"""
ASKS = """<html><head><script src=a.js></script></head><body><div class=x></div>
    <noscript><p>Bitte aktivieren Sie Javascript.</p></noscript></body></html>"""
LONG = "The harbour crane was built in 1911, and for sixty years it lifted timber, coal and now and then a bull. " * 3
NEXT = f"""<!DOCTYPE html><html><head><script src="/_next/static/chunks/main.js" defer></script></head><body>
    <div id="__next"><main><h1>Crane</h1><p>{LONG}</p></main></div></body></html>"""
FALLBACK = f"""<html><body><script src=x.js></script><div id=root></div><noscript><p>{LONG}</p><p>Without JavaScript
    there is no map.</p></noscript></body></html>"""
EMPTY = "<!doctype html><html><head><title>nothing yet</title></head><body></body></html>"
PIXEL = """<html><head><script src=/count.js></script></head><body><h1>It works!</h1><div id=footer></div>
    <noscript><img src=/pixel.gif></noscript></body></html>"""
NO_SCRIPT = "<html><body><div id=root></div><noscript>This page needs no JavaScript</noscript></body></html>"


@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        *((html, True) for html in (REACT, VITE, VUE, ANGULAR, NUXT, ASKS)),
        *((html, False) for html in (NEXT, FALLBACK, EMPTY, PIXEL, NO_SCRIPT)),
    ],
)
def test_a_page_that_has_its_text_by_script_is_known(engine: Engine, html: str, expected: bool) -> None:
    task = ParseTask("http://a.test/", html.encode(), "text/html", "utf-8", 100, 20_000, engine)
    assert extract(task).needs_script is expected
