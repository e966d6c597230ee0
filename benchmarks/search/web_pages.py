"""Reads a folder of real pages, one subfolder per host, as the crawler reads them from the web.

The layout is that of node/extras/demo/sample_server.py: HOST/_site.toml names the front page, which stands at "/".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from crawl.content.extract import extract
from crawl.content.page import ParseResult, ParseTask
from dht import document_id, placement_key
from index import Text
from node.extras.demo.sample_server import host_folders
from node.extras.demo.sample_settings import parse_settings
from node.extras.demo.sample_site import BUILT_PORT, PAGE_ENDINGS, SETTINGS_FILE

MAX_LINKS, MAX_TEXT_CHARS = 2_000, 1 << 20


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page: what was read from it, and what the index is given. `html`: its bytes as they were served."""

    url: str
    host: str
    is_front: bool
    html: bytes
    found: ParseResult
    text: Text


@lru_cache(maxsize=1)
def read_web(root: Path) -> Sequence[WebPage]:
    """Return all pages of a web that say anything, in order of hosts and paths."""
    pages = (read_page(url, file.read_bytes()) for url, file in page_files(root))
    return [page for page in pages if says_anything(page)]


def page_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the address and the file of each page, in order of hosts and paths."""
    for host in host_folders(root):
        folder = root / host
        settings = folder / SETTINGS_FILE
        said = parse_settings(settings.read_text("utf-8"), host) if settings.is_file() else None
        front = said.front if said and said.front else "/index.html"
        files = (path for path in folder.rglob("*") if path.suffix.lower() in PAGE_ENDINGS and path.is_file())
        for file in sorted(files):
            path = "/" + file.relative_to(folder).as_posix()
            yield f"http://{host}{'/' if path == front else path}", file


def says_anything(page: WebPage) -> bool:
    """Tell whether a page has any text."""
    return bool(page.found.text or page.found.boilerplate)


def read_page(url: str, html: bytes) -> WebPage:
    """Read one page at an address."""
    html = html.replace(BUILT_PORT, b".test")
    found = extract(ParseTask(url, html, "text/html", "", MAX_LINKS, MAX_TEXT_CHARS))
    host = url.split("/")[2]
    return WebPage(url, host, url == f"http://{host}/", html, found, text_of_page(url, found))


def text_of_page(url: str, found: ParseResult) -> Text:
    """Return what the index sees of a page."""
    return Text(
        id=document_id(url),
        key=placement_key(url),
        version=document_id(url).ljust(32),
        url=url,
        title=found.title,
        headings=found.headings,
        body=found.text,
        language=found.language,
        fetched_at=0.0,
        boilerplate=found.boilerplate,
        signature=found.signature,
        published_at=found.published_at,
        modified_at=found.modified_at,
    )
