"""Makes the body of /api/v1/search ready for the page: escaped nowhere (the template does), bounded everywhere.

Pure: plain data in, values out. Tolerant: a missing or odd field is left out, never an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from node.views.lenient_json import Json, count, listed, table, texts
from node.views.safe_text import Piece, day, pieces, plain, shortened, trail, web_link
from node.web.rendering.score_view import Why, why_of

MAX_TITLE = 160
MAX_IMAGES = 3  # of a page
MAX_SIMILAR = 5
MAX_DOUBTS = 16
MAX_NAMES = 6  # of a facet
MAX_READINGS = 8
MAX_OTHERS = 16  # words that were looked for as well
MAX_QUERY_SHOWN = 200
MAX_RELATED = 8
MAX_DEFINITION = 300
RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "iw", "ps", "sd", "syr", "ug", "ur", "yi"})


@dataclass(frozen=True, slots=True)
class ShownImage:
    """Holds what is shown of an image: its address, as a link and nothing else."""

    url: str
    host: str
    path: str
    text: str  # its own words, else those beside it
    caption: str
    size: str  # "" unknown


@dataclass(frozen=True, slots=True)
class Result:
    """Holds what is shown of one result. `why`: where its score comes from, None where nothing is told of that."""

    url: str
    host: str  # as it stands in the address, with its port
    name: str  # of the host alone
    path: str
    title: str
    heading: str  # under which the snippet stands, "" unknown
    snippet: tuple[Piece, ...]
    language: str
    direction: str  # of its writing, as HTML has it
    day: str  # by the page's own word, "" unknown
    fetched_day: str
    replicas: int
    site_more: bool
    images: tuple[ShownImage, ...]
    similar: tuple[str, ...]
    similar_count: int
    why: Why | None

    @property
    def folder(self) -> str:
        """The beginning of the addresses beside it and below, "" where that is the whole site."""
        scheme, _, rest = self.url.partition("?")[0].partition("://")
        above = rest.rpartition("/")[0]
        return f"{scheme}://{above}/" if "/" in above else ""


@dataclass(frozen=True, slots=True)
class ShownDefinition:
    """Holds a sentence that says what a term is, and the page that says it."""

    text: str
    url: str
    host: str
    title: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """Holds why an answer may not be exact: a word of the vocabulary, and of how many nodes or slots it speaks."""

    reason: str
    peers: int
    slots: int


@dataclass(frozen=True, slots=True)
class HowRead:
    """Holds how a piece of the query was read: a word of the vocabulary, and the piece."""

    read_as: str
    piece: str


@dataclass(frozen=True, slots=True)
class FacetName:
    """Holds a name by which the results can be narrowed, and how many match. `words`: what is added to the query for
    it, where no parameter narrows by it."""

    name: str
    count: int
    words: str


@dataclass(frozen=True, slots=True)
class Facet:
    """Holds what matches are counted by, its commonest names, and whether others and greater numbers are possible."""

    kind: str
    names: tuple[FacetName, ...]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Holds what the page says about the answer as a whole. `total`: how many hold enough of the words; more may be
    shown, which hold some."""

    results: tuple[Result, ...]
    total: int
    is_exact_total: bool
    took_ms: int
    slots: int
    answered: int
    is_partial: bool
    doubts: tuple[Doubt, ...]
    facets: tuple[Facet, ...]
    corrected: str  # the query with the right words in place of slips, where it was answered so
    others: tuple[str, ...]  # that were looked for as well
    suggestions: tuple[str, ...]
    definition: ShownDefinition | None  # for a query that asks for one
    related: tuple[str, ...]  # other queries
    readings: tuple[HowRead, ...]

    @property
    def tally_key(self) -> str:
        """Name the sentence that says how many results there are."""
        if self.total < len(self.results) and not self.is_partial:
            return "results.some" if self.total else "results.some.none"
        return "results.exact" if self.is_exact_total else "results.at_least" if self.is_partial else "results.about"


def result_page(answer: Json) -> ResultPage:
    """Read an answer of the node as a page of results."""
    coverage = table(answer, "coverage")
    slots, answered = count(coverage, "slots"), count(coverage, "answered")
    results = tuple(_results(listed(answer.get("results"))))
    return ResultPage(
        results=results,
        total=count(answer, "total"),
        is_exact_total=answer.get("total_is") == "exact",
        took_ms=count(answer, "took_ms"),
        slots=slots,
        answered=answered,
        is_partial=answer.get("partial") is True or answered < slots,
        doubts=tuple(_doubts(listed(answer.get("why"))[:MAX_DOUBTS])),
        facets=tuple(_facets(table(answer, "facets"), listed(answer.get("facets_cut")))),
        suggestions=tuple(texts(answer, "suggestions", limit=200, most=10)),
        definition=_definition(table(answer, "definition"), results),
        related=tuple(texts(answer, "related", limit=MAX_TITLE, most=MAX_RELATED)),
        corrected=next(iter(texts(answer, "corrections", limit=MAX_QUERY_SHOWN, most=1)), ""),
        others=tuple(_others(listed(answer.get("alternatives"))[:MAX_OTHERS])),
        readings=tuple(_readings(listed(answer.get("readings"))[:MAX_READINGS])),
    )


def _definition(found: Json, results: Sequence[Result]) -> ShownDefinition | None:
    """Read a definition; one of a page that the reader's rules leave out is left out, too."""
    text, url = plain(found.get("text") or "", MAX_DEFINITION).strip(), web_link(found.get("url"))
    title = plain(found.get("title") or "", MAX_TITLE).strip()
    return ShownDefinition(text, url, trail(url)[0], title) if text and url in {each.url for each in results} else None


def _others(entries: list[Any]) -> Iterator[str]:
    """Read the words that were looked for as well as those that were typed."""
    for entry in entries:
        if isinstance(entry, dict) and isinstance(used := entry.get("used"), str) and used:
            yield used[:MAX_QUERY_SHOWN]


def _facets(counts: Json, cut: list[Any]) -> Iterator[Facet]:
    """Read the facets; one of a single name narrows nothing."""
    for kind in ("site", "language", "year", "type"):
        entries = [entry for entry in listed(counts.get(kind))[:MAX_NAMES] if isinstance(entry, dict)]
        read = ((plain(entry.get("name") or ""), count(entry, "count")) for entry in entries)
        names = tuple(FacetName(name, number, _narrowing(kind, name)) for name, number in read if name)
        if len(names) > 1:
            yield Facet(kind, names, kind in cut)


def _narrowing(kind: str, name: str) -> str:
    if kind == "year" and len(name) == 4 and name.isascii() and name.isdecimal():
        return f"after:{name} before:{int(name) + 1}"
    return f"filetype:{name}" if kind == "type" else ""


def _doubts(entries: list[Any]) -> Iterator[Doubt]:
    for entry in entries:
        reason = entry.get("reason") if isinstance(entry, dict) else None
        if isinstance(reason, str) and reason.isascii() and reason.isalpha():
            yield Doubt(reason, count(entry, "peer_count"), count(entry, "slots"))


def _results(entries: list[Any]) -> Iterator[Result]:
    """Read the results; one whose address or title cannot be shown, whoever wrote it, costs its own row only."""
    for entry in entries:
        try:
            if web_link(entry.get("url")):
                yield _result(entry)
        except (ValueError, TypeError, AttributeError, OverflowError):
            continue


def _readings(entries: list[Any]) -> Iterator[HowRead]:
    for entry in entries:
        read_as = entry.get("read_as") if isinstance(entry, dict) else None
        if isinstance(read_as, str) and read_as.isascii() and read_as.replace("_", "").isalpha():
            yield HowRead(read_as, plain(entry.get("piece") or "", MAX_TITLE).strip())


def _result(entry: Json) -> Result:
    url = web_link(entry.get("url"))
    host, path = trail(url)
    similar = [web_link(other if isinstance(other, str) else _url_in(other)) for other in listed(entry.get("similar"))]
    return Result(
        url=url,
        host=host,
        name=urlsplit(url).hostname or "",
        path=path,
        title=shortened(entry.get("title") or "", MAX_TITLE),
        heading=plain(entry.get("heading") or "", MAX_TITLE).strip(),
        snippet=tuple(pieces(str(entry.get("snippet") or "")[:1000], listed(entry.get("highlights")))),
        language=(language := _language(entry.get("language"))),
        direction="auto" if not language else "rtl" if language.partition("-")[0] in RIGHT_TO_LEFT else "ltr",
        day=day(entry.get("date")),
        fetched_day=day(entry.get("fetched_at")),
        replicas=count(entry, "replicas"),
        site_more=bool(entry.get("site_more")),
        images=tuple(_images(listed(entry.get("images"))[:MAX_IMAGES])),
        similar=tuple(other for other in similar[:MAX_SIMILAR] if other),
        similar_count=max(count(entry, "similar_count"), len(similar)),
        why=why_of(entry.get("explain")),
    )


def _images(entries: list[Any]) -> Iterator[ShownImage]:
    for entry in entries:
        url = web_link(_url_in(entry))
        if not url:
            continue
        text, caption, heading = (
            plain(entry.get(name) or "", MAX_TITLE).strip() for name in ("text", "caption", "heading")
        )
        width, height = count(entry, "width"), count(entry, "height")
        size = f"{width} × {height}" if width and height else ""
        yield ShownImage(url, *trail(url), text or caption or heading, caption if text else "", size)


def _url_in(value: object) -> str:
    return str(value.get("url", "")) if isinstance(value, dict) else ""


def _language(value: object) -> str:
    """Return a language code fit for an attribute, or nothing."""
    text = str(value or "")
    return text if len(text) <= 12 and text.isascii() and text.replace("-", "").isalnum() else ""
