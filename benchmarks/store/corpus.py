"""Makes records of real pages, as a node makes them: documents, and visits of the URLs that they name.

Where more are wanted than there are pages, pages come again under other URLs. So what shares bytes between records
(solid frames, dictionaries) is judged on `documents(..., count=None)` alone, in which each page stands once.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

from benchmarks.search.web_pages import WebPage, read_web
from crawl import Visit
from crawl.schedule.url_state import reach
from dht import Identity, document_id, placement_key
from node.crawling.ingest import DAY_S, KEEP_DOCUMENT_DAYS, KEEP_VISIT_DAYS, visit_draft
from store import Document, Draft, Kind, Record, StoreConfig, encode_document
from store.record.package import encode_head, sign_package

SIGNER = Identity(bytes(range(32)))
BATCH = 256  # records of one durable write
EPOCH = 1
DEPTH = 3
T = TypeVar("T", Draft, Record)
HEADERS = (
    ("Server", "nginx"), ("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Content-Type", "text/html; charset=utf-8"),
    ("Last-Modified", "Mon, 13 Nov 2023 22:13:20 GMT"), ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """One record, and what another store keeps of it: its name, and the bytes that lie in a frame of ours."""

    record: Record
    name: bytes
    head: bytes
    content: bytes

    @property
    def size(self) -> int:
        """Bytes before compression."""
        return len(self.head) + len(self.content)


@lru_cache(maxsize=1)
def pages_of(web: Path) -> Sequence[WebPage]:
    """Return the pages of a web, read once."""
    return read_web(web)


def document_drafts(pages: Sequence[WebPage], count: int | None = None, turn: int = 0) -> list[Draft]:
    """Return drafts of so many documents, or of each page once; `turn`: other ones under other URLs."""
    wanted = len(pages) if count is None else count
    return [_document(page, f"{turn}-{n}") for n, page in enumerate(islice(cycle(pages), wanted))]


def visit_drafts(pages: Sequence[WebPage], count: int) -> list[Draft]:
    """Return drafts of so many found URLs."""
    found = list(dict.fromkeys(link.url for page in pages for link in page.found.links))
    last_day = int(time.time() // DAY_S) + KEEP_VISIT_DAYS
    drafts = []
    for n, link in enumerate(islice(cycle(found), count)):
        url = link if n < len(found) else f"{link}{'&' if '?' in link else '?'}n={n}"
        visit = Visit(url, DEPTH)
        drafts.append(visit_draft(visit, 0, reach(visit), last_day, placement_key(url)))
    return drafts


def signed(drafts: Sequence[Draft]) -> list[Record]:
    """Sign drafts in packages as large as the replicator makes them."""
    return [record for part in packages(drafts) for record in sign_package(part, SIGNER)]


def packages(drafts: Sequence[T], config: StoreConfig = StoreConfig()) -> Iterator[list[T]]:  # noqa: B008
    """Divide drafts, or records, into packages of the replicator's bounds."""
    part, size = list[T](), 0
    for draft in drafts:
        own = len(draft.body) + len(draft.content or b"") + 1024
        if part and (len(part) >= config.flush_records or size + own > config.flush_bytes):
            yield part
            part, size = [], 0
        part.append(draft)
        size += own
    if part:
        yield part


def items(drafts: Sequence[Draft]) -> list[Item]:
    """Sign drafts, and encode them for stores that know nothing of records."""
    return [Item(r, bytes([r.kind]) + r.id, encode_head(r), r.content or b"") for r in signed(drafts)]


def packaged(found: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Divide items into packages of the replicator's bounds."""
    of = {id(item.record): item for item in found}
    for part in packages([item.record for item in found]):
        yield [of[id(record)] for record in part]


def batched(found: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Divide items into batches of BATCH."""
    return (found[n : n + BATCH] for n in range(0, len(found), BATCH))


def _document(page: WebPage, name: str) -> Draft:
    url = f"{page.url}?n={name}"
    now, found = time.time(), page.found
    document = Document(
        url=url,
        fetched_at=now,
        status=200,
        headers=HEADERS,
        media_type="text/html",
        charset=found.charset,
        language=found.language,
        title=found.title,
        headings=found.headings,
        text=found.text,
        links=tuple((link.url, link.anchor) for link in found.links),
        signature=found.signature,
        description=found.description,
        boilerplate=found.boilerplate,
    )
    return Draft(
        kind=Kind.DOCUMENT,
        id=document_id(url),
        key=placement_key(url),
        epoch=EPOCH,
        at_ms=int(now * 1000),
        expires_day=int(now // DAY_S) + KEEP_DOCUMENT_DAYS,
        body=encode_document(document),
        content=page.html,
        content_digest=sha256(page.html).digest(),
    )
