"""Makes pages that are there to be found in place of the one that is meant: six kinds of spam, as HTML.

Pure: queries, pages and a random generator in, addresses and HTML out. A spammer knows the queries and copies from the
web, but does not sit on the hosts of others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from random import Random

from benchmarks.search.known_rules import KnownItem
from benchmarks.search.web_pages import WebPage

FARM = 30  # hosts of a spammer
STUFFED_PAGES, STUFFED_LINES, STUFFED_WORDS = 3, 40, 5  # a query; a page; words of advertising a line
LIGHT_LINES = 30  # of another page
SHOP = "Great offers of the week"  # the title of a page whose words for queries are hidden
_ADVERTISING_WORDS = (
    "best cheap discount offer deal buy online shop price sale free shipping review top quality save order now "
    "bonus win guide compare official store coupon rating"
)
_ADVERTISING = _ADVERTISING_WORDS.split()
_HIDINGS = (
    '<div style="display:none">{}</div>',
    "<div hidden>{}</div>",
    '<div style="visibility: hidden; height: 0">{}</div>',
    '<div style="position: absolute; left: -9999px">{}</div>',
    '<div style="font-size: 0">{}</div>',
    "<template>{}</template>",
)
_MOVES = ('window.location.replace("{}");', "location.href = '{}'", "top.location='{}';")


@dataclass(frozen=True, slots=True)
class SpamPage:
    """One page of spam: its address and its bytes."""

    url: str
    html: bytes


Maker = Callable[[Sequence[KnownItem], Sequence[WebPage], Random], Iterator[SpamPage]]


def one_owner(items: Sequence[KnownItem], pages: Sequence[WebPage], chance: Random) -> Iterator[SpamPage]:
    """Stuffed pages on hosts of one domain."""
    yield from _stuffed(items, chance, "s{}.offers.test")


def thirty_domains(items: Sequence[KnownItem], pages: Sequence[WebPage], chance: Random) -> Iterator[SpamPage]:
    """Stuffed pages on domains that link to each other."""
    yield from _stuffed(items, chance, "offers{}.test")


def light(items: Sequence[KnownItem], pages: Sequence[WebPage], chance: Random) -> Iterator[SpamPage]:
    """The text of another page, with the query as its title, before it and after it."""
    for number, item in enumerate(items):
        lines = [item.words, *_lines_of_others(item, pages, chance), item.words]
        yield _page(f"light{number}.test", number, item.words, _paragraphs(lines))


def copies(items: Sequence[KnownItem], pages: Sequence[WebPage], chance: Random) -> Iterator[SpamPage]:
    """The title and text of the page that is meant."""
    for number, item in enumerate(items):
        found = pages[min(item.targets)].found
        yield _page(f"copy{number}.test", number, found.title, _paragraphs(found.text.split("\n")))


def doorways(items: Sequence[KnownItem], pages: Sequence[WebPage], chance: Random) -> Iterator[SpamPage]:
    """Pages that fit a query and send each reader elsewhere by a script."""
    for number, item in enumerate(items):
        script = f"<script>{_MOVES[number % len(_MOVES)].format(f'http://casino.test/{number}')}</script>"
        lines = [item.words, *_lines_of_others(item, pages, chance)]
        body = f"{script}<h1>{escape(item.words)}</h1>{_paragraphs(lines)}"
        yield _page(f"door{number % FARM}.test", number, item.words, body)


def hidden_text(items: Sequence[KnownItem], pages: Sequence[WebPage], chance: Random) -> Iterator[SpamPage]:
    """Pages of a shop with the query in what no reader sees."""
    for number, item in enumerate(items):
        words = f"<h2>{escape(item.words)}</h2>{_paragraphs([item.words] * 9)}"
        body = _HIDINGS[number % len(_HIDINGS)].format(words) + _paragraphs(_lines_of_others(item, pages, chance))
        yield _page(f"shop{number % FARM}.test", number, SHOP, body)


KINDS: dict[str, Maker] = {
    "stuffed by one owner": one_owner,
    "stuffed by thirty domains": thirty_domains,
    "light": light,
    "copies": copies,
    "doorways by script": doorways,
    "hidden text": hidden_text,
}


def _stuffed(items: Sequence[KnownItem], chance: Random, host: str) -> Iterator[SpamPage]:
    links = "".join(f'<a href="http://{host.format(number)}/">partner {number}</a> ' for number in range(FARM))
    for number in range(len(items) * STUFFED_PAGES):
        words = items[number // STUFFED_PAGES].words
        adverts = (chance.choices(_ADVERTISING, k=STUFFED_WORDS) for _ in range(STUFFED_LINES))
        body = _paragraphs([f"{' '.join(each)} {words}" for each in adverts])
        yield _page(host.format(number % FARM), number, f"{words} | best", f"{body}<p>{links}</p>")


def _lines_of_others(item: KnownItem, pages: Sequence[WebPage], chance: Random) -> list[str]:
    """Some lines of a page of another host, which has enough of them."""
    for _ in range(100):
        page = chance.choice(pages)
        lines = page.found.text.split("\n")
        if page.host != item.host and len(lines) >= LIGHT_LINES:
            break
    return lines[:LIGHT_LINES]


def _page(host: str, number: int, title: str, body: str) -> SpamPage:
    html = f"<!doctype html><html><head><title>{escape(title)}</title></head><body>{body}</body></html>"
    return SpamPage(f"http://{host}/p{number}", html.encode())


def _paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
