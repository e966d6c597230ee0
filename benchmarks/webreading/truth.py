"""Reads pages with their truth: of three public collections, and of the packaged templates.

A collection is a checkout of its repository below one folder, by the repository's name; one that is not there is left
out. Sources: scrapinghub/article-extraction-benchmark (main texts), mozilla/readability (main texts, titles, dates),
adbar/htmldate (dates).
"""

import gzip
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from string import Template

from crawl.content.extract_lxml import read_lxml
from crawl.content.raw_html import without_marks

TEMPLATES = Path(__file__).parent / "templates"
ARTICLES = "article-extraction-benchmark"
READABILITY = "readability"
DATES = "htmldate"
COLLECTIONS = (ARTICLES, READABILITY, DATES)
EVERY_QUICK = 4  # --quick takes every fourth page
_MAIN = re.compile("<!--main-->(.*?)<!--/main-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TruePage:
    """A page and what is right; what the collection does not say is None."""

    collection: str
    url: str
    html: bytes
    text: str | None = None
    title: str | None = None
    day: date | None = None


def read_pages(folder: Path | None, *, quick: bool) -> list[TruePage]:
    """Return the pages of the templates, and of the collections that are below this folder."""
    pages = list(template_pages())
    if folder is not None:
        readers = {ARTICLES: _articles, READABILITY: _readability, DATES: _dates}
        for name, read in readers.items():
            pages += list(read(folder / name))[:: EVERY_QUICK if quick else 1] if (folder / name).is_dir() else []
    return pages


def template_pages() -> Iterator[TruePage]:
    """Fill each template with each article. The truth is what stands between its `main` comments."""
    articles = tomllib.loads((TEMPLATES / "articles.toml").read_text("utf-8"))["article"]
    for path in sorted(TEMPLATES.glob("*.html")):
        for article in articles:
            when = datetime.fromisoformat(article["iso"])
            html = Template(path.read_text("utf-8")).substitute(
                title=article["title"],
                body=article["html"],
                iso=article["iso"],
                lang=article["lang"],
                day=f"{when:%B} {when.day}, {when.year}",
                dmy=f"{when.day} {when:%B %Y}",
                short=f"{when:%Y-%m-%d}",
            )
            text = words_of_html("\n".join(_MAIN.findall(html)))
            url = f"https://{path.stem}.example/{article['name']}"
            yield TruePage("templates", url, html.encode(), text, article["title"], when.date())


def words_of_html(html: str) -> str:
    """Return the text of a piece of HTML, without any judgement."""
    return without_marks(read_lxml(html, 0).text) if html.strip() else ""


def _articles(folder: Path) -> Iterator[TruePage]:
    truth = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    for name, said in sorted(truth.items()):
        html = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        yield TruePage(ARTICLES, said.get("url") or "https://page.example/", html, said["articleBody"])


def _readability(folder: Path) -> Iterator[TruePage]:
    for path in sorted((folder / "test" / "test-pages").glob("*/source.html")):
        said = json.loads((path.parent / "expected-metadata.json").read_text("utf-8"))
        text = words_of_html((path.parent / "expected.html").read_text("utf-8"))
        at = said.get("publishedTime") or ""
        day = date.fromisoformat(at[:10]) if re.match(r"\d{4}-\d\d-\d\d", at) else None
        yield TruePage(
            READABILITY, "http://fakehost/test/page.html", path.read_bytes(), text, said["title"] or None, day
        )


def _dates(folder: Path) -> Iterator[TruePage]:
    tests = folder / "tests"
    for list_ in ("eval_default.json", "eval_mediacloud_2020.json"):
        for url, said in json.loads((tests / list_).read_text("utf-8")).items():
            places = (tests / name / said["file"] for name in ("eval", "cache", "test_set"))
            path = next((each for each in places if each.is_file()), None)
            if path is not None and isinstance(said["date"], str):
                yield TruePage(DATES, url, path.read_bytes(), day=date.fromisoformat(said["date"]))
