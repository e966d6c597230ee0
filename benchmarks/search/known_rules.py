"""Makes queries of which it is known what page is meant: by its title, a heading, a link's text or words of its text.

Pure: pages and a random generator in, queries out. Pages of equal title are one target. A query that means several
targets is none. At most PER_HOST queries of a kind come from one host, so that no site decides a figure.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.search.web_pages import WebPage
from index.text.stop_words import languages_of

KINDS = ("title", "heading", "anchor", "body")
PER_HOST = 8
MOST_ALIKE = 5  # pages of one title: more are a template's
MOST_WORDS = 10
HEADING_WORDS = 4  # the rarest of a heading
RARE = 5  # pages at most hold the rarest of them
BODY_WINDOW, BODY_WORDS = 12, 5  # so many words in a row are taken, and of them those that are no stop words
HAN_WORDS = 4, 12  # characters of a query without spaces
_WORD = re.compile(r"\w+(?:[-.']\w+)*")
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A query and the places of the pages that it means. `host`: whose pages they are."""

    kind: str
    words: str
    targets: frozenset[int]
    host: str


def known_items(pages: Sequence[WebPage], chance: Random, most: int, kinds: Collection[str] = KINDS) -> list[KnownItem]:
    """Return at most so many queries of each kind."""
    targets = title_targets(pages)
    makers: dict[str, Callable[[], list[tuple[str, int]]]] = {
        "title": lambda: _titles(pages, targets),
        "heading": lambda: _headings(pages, targets),
        "anchor": lambda: _anchors(pages, targets),
        "body": lambda: _bodies(pages, chance),
    }
    every = {kind: makers[kind]() for kind in KINDS if kind in kinds}
    out: list[KnownItem] = []
    for kind, made in every.items():
        found = [KnownItem(kind, words, targets[place], pages[place].host) for words, place in made]
        chance.shuffle(found)
        out += _of_all_hosts(found)[:most]
    return out


def title_targets(pages: Sequence[WebPage]) -> list[frozenset[int]]:
    """Return for each page the places of all pages with its title."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, page in enumerate(pages):
        places[_title_of(page) or page.url].append(place)
    return [frozenset(places[_title_of(page) or page.url]) for page in pages]


def _of_all_hosts(items: Iterable[KnownItem]) -> list[KnownItem]:
    kept: Counter[str] = Counter()
    out = []
    for item in items:
        kept[item.host] += 1
        if kept[item.host] <= PER_HOST:
            out.append(item)
    return out


def _titles(pages: Sequence[WebPage], targets: Sequence[frozenset[int]]) -> list[tuple[str, int]]:
    """Titles as they stand."""
    own = [place for place, found in enumerate(targets) if place == min(found) and len(found) <= MOST_ALIKE]
    return [(pages[place].found.title, place) for place in own if _is_query(pages[place].found.title)]


def _headings(pages: Sequence[WebPage], targets: Sequence[frozenset[int]]) -> list[tuple[str, int]]:
    """The rarest words of a heading that one target alone has, and that says more than its title does."""
    meant: dict[str, set[frozenset[int]]] = defaultdict(set)
    seen: Counter[str] = Counter()
    for place, page in enumerate(pages):
        seen.update(set(_WORD.findall(f"{page.found.text}\n{page.found.boilerplate}".lower())))
        for heading in page.found.headings:
            meant[heading].add(targets[place])
    out = []
    for heading, found in meant.items():
        place = min(next(iter(found)))
        title = set(_WORD.findall(pages[place].found.title.lower()))
        words = _WORD.findall(heading.lower())
        is_rare = _HAN.search(heading) or min((seen[word] for word in words), default=0) <= RARE
        if len(found) == 1 and is_rare and _is_query(heading) and not title.issuperset(words):
            out.append((_rarest(heading, seen), place))
    return out


def _rarest(heading: str, seen: Counter[str]) -> str:
    words = _WORD.findall(heading)
    rare = sorted(set(words), key=lambda word: (seen[word.lower()], word))[:HEADING_WORDS]
    return " ".join(word for word in dict.fromkeys(words) if word in rare)


def _anchors(pages: Sequence[WebPage], targets: Sequence[frozenset[int]]) -> list[tuple[str, int]]:
    """Texts of links from other pages to one target alone, that are not its title; the index is given no link. Links to
    another site's front page name the site, so they are left out."""
    places = {page.url: place for place, page in enumerate(pages)}
    meant: dict[str, set[frozenset[int]]] = defaultdict(set)
    for place, page in enumerate(pages):
        for link in page.found.links:
            to = places.get(link.url)
            if to is None or place in targets[to] or (pages[to].is_front and pages[to].host != page.host):
                continue
            if link.anchor and "://" not in link.anchor:
                meant[link.anchor].add(targets[to])
    return [
        (anchor, min(found))
        for anchor, (found, *others) in meant.items()
        if not others and _is_query(anchor) and anchor.casefold() != _title_of(pages[min(found)])
    ]


def _bodies(pages: Sequence[WebPage], chance: Random) -> list[tuple[str, int]]:
    """Words of a passage; one query of a page."""
    out = []
    for place, page in enumerate(pages):
        lines = [line for line in page.found.text.split("\n") if len(line) > 80 or _HAN.search(line)]
        if lines and (words := _passage(chance.choice(lines), chance)):
            out.append((words, place))
    return out


def _passage(line: str, chance: Random) -> str:
    if _HAN.search(line):
        runs = [run for run in _WORD.findall(line) if _HAN.search(run) and len(run) >= HAN_WORDS[0] * 2]
        if not runs:
            return ""
        run = chance.choice(runs)
        begin = chance.randrange(len(run) - HAN_WORDS[0] * 2 + 1)
        return run[begin : begin + HAN_WORDS[0] * 2]
    words = _WORD.findall(line)
    begin = chance.randrange(max(len(words) - BODY_WINDOW, 0) + 1)
    told = [word for word in words[begin : begin + BODY_WINDOW] if not languages_of(word.lower()) and len(word) > 2]
    return " ".join(told[:BODY_WORDS]) if len(told) >= BODY_WORDS - 1 else ""


def _is_query(text: str) -> bool:
    """Tell whether somebody would type this: two words or more, or a few characters without spaces, and no formula."""
    words = _WORD.findall(text)
    if _HAN.search(text):
        return HAN_WORDS[0] <= sum(map(len, words)) <= HAN_WORDS[1] * 2
    return 2 <= len(words) <= MOST_WORDS and sum(map(str.isalpha, words)) >= 2


def _title_of(page: WebPage) -> str:
    return " ".join(page.found.title.split()).casefold()
