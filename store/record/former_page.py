"""A former version of a page: kind FORMER, which keeps what a newer version has replaced.

Pure: values and their codec. Nobody signs such a record: it follows from the page's own, whose proof it carries. So
each node that replaces a page makes the same bytes, and a node that receives them makes them again to check them. All
former versions of a page lie at its key, under ids that begin alike. One id among them is that of the *erasure*: the
newest version by which the page must not be found. No version before it is kept.

A policy says which of them are kept: the newest few, and of older ones fewer the older they are. All owners of a page
go by the same policy of the strategy, on the same days. Each owner may have only a part of the versions. Together they
keep the same versions that one owner would keep of all. So owners that exchange their versions end alike, in any order.
With time only more is dropped, never something else.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from dht import DocumentId, Key
from store.record.document import Document, decode_document, document_flaw
from store.record.package import MAX_RECORD_BYTES, decode_head, encode_head, forgeries
from store.record.record import Kind, Record, Version, digest_of

MOST_DAYS = 3650
DAY_MS = 86_400_000
# (days of a span, its age in days). Of the versions in a span the newest is kept, once the whole span has that age.
# Spans begin at multiples of their length since 1970, so each lies within one of the wider ones.
SPANS = ((64, 365), (8, 32), (1, 0))


class VersionPolicy(NamedTuple):
    """How many former versions of a page are kept: the newest `last` of them, and older ones thinned out, all for
    `days`; 0 days: none."""

    last: int = 0
    days: int = 0

    @property
    def keeps_any(self) -> bool:
        """Whether former versions are kept at all."""
        return self.days > 0

    def kept(self, instants: Iterable[int], today: int, erased_upto: int = -1) -> frozenset[int]:
        """Return those instants (Unix milliseconds) whose versions are kept on a day (since 1970). All up to
        `erased_upto` are erased."""
        found = sorted({at for at in instants if at > erased_upto and self.is_young(at, today)}, reverse=True)
        newest: dict[tuple[int, int], int] = {}
        for at in found[self.last :]:
            newest.setdefault(_span(at // DAY_MS, today), at)
        return frozenset((*found[: self.last], *newest.values()))

    def is_young(self, at_ms: int, today: int) -> bool:
        """Tell whether a version of an instant is young enough to be kept on a day."""
        return self.keeps_any and at_ms // DAY_MS + self.days >= today


def newest_of_authors(instants: Mapping[bytes, int], author_of: Callable[[bytes], bytes]) -> set[bytes]:
    """Return those of a page's versions that count: of one author's versions of one day (UTC) the newest. So members
    that conspire cannot displace the versions of others by writing many of their own.

    `instants`: by the name of each version, Unix milliseconds. `author_of` is asked about days with several versions
    alone. Days begin at the same instants everywhere, so what counts does not depend on the order in which owners get
    the versions."""
    days, counting = defaultdict[int, list[bytes]](list), set[bytes]()
    for name in sorted(instants, key=lambda name: (instants[name], name)):
        days[instants[name] // DAY_MS].append(name)
    for names in days.values():
        counting |= {*({author_of(name): name for name in names}.values() if len(names) > 1 else names)}
    return counting


def _span(day: int, today: int) -> tuple[int, int]:
    """The span, by its length and its first day, of which one version is kept."""
    for length, age in SPANS[:-1]:
        first = day - day % length
        if first + length + age <= today:
            return length, first
    return 1, day


NAME_BYTES = 12  # of a page's id, with which those of its former versions begin
KEPT_DAYS = 365  # of a page, from when it was written; its author wishes a shorter time where it is given one
NO_MORE = frozenset((301, 302, 303, 307, 308, 404, 410))  # statuses of a page that has left without asking for anything
_ERASURE = b"\xff" * 8  # in place of a version: it is the last of all ids


class FormerBody(msgspec.Struct, frozen=True, array_like=True):
    """The body of a FORMER record. Its content is the page's."""

    url: str
    head: bytes  # the page's record without its content, as it lies in segments


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(FormerBody)


def page_in(former: Record) -> Record:
    """Return the page that a FORMER record holds; raises ValueError where it holds none. The page lies where its record
    does, to which its site may have been spread since."""
    page = replace(decode_head(_decoder.decode(former.body).head), content=former.content)
    return replace(page, key=former.key, proof=replace(page.proof, key=former.proof.key))


def former_of(page: Record) -> Record:
    """Return the record that keeps a version of a page, its content withheld where the page's is; raises ValueError
    where it is no page."""
    document = decode_document(page.body)
    signed = replace(page, key=Key(page.signed_key), proof=replace(page.proof, key=b""))
    body = _encoder.encode(FormerBody(document.url, encode_head(signed)))
    epoch, at_ms, _ = page.version
    version = Version(epoch, at_ms, digest_of(body, page.content_digest))
    id = erasure_id(page.id) if erases(document) else former_id(page)
    day, content = _last_day(page, document), page.content
    return Record(Kind.FORMER, id, page.key, version, day, body, content, page.content_digest, page.proof)


def filed(page: Record) -> Record | None:
    """Return the record that is to keep a version of a page; None where its author allows no copies, there is nothing
    to show, or it is too large. Of what was written under no lease, such as an import, nothing erases others."""
    try:
        document, former = decode_document(page.body), former_of(page)
    except (ValueError, RecursionError):
        return None
    is_empty = document.gone and not (erases(document) and page.version.epoch)
    size = len(former.body) + len(former.content or b"")
    return None if document.noarchive or is_empty or size > MAX_RECORD_BYTES else former


def erasure_of(page: Record) -> Record | None:
    """Return the record that drops what came before a page, None where it drops nothing."""
    former = None if page.kind != Kind.DOCUMENT or page.content else filed(replace(page, content=b""))
    return former if former is not None and is_erasure(former.id) else None


def erases(document: Document) -> bool:
    """Tell whether a version takes those before it along: its page must not be found, and has not merely gone."""
    return document.gone and document.status not in NO_MORE


def former_id(page: Record) -> DocumentId:
    """Return the id under which a version of a page is kept. It follows from its instant and its author, so that nobody
    takes the place of another author's version by one of the same instant."""
    named = sha256(page.version.at_ms.to_bytes(8, "big") + page.proof.author).digest()
    return DocumentId(page.id[:NAME_BYTES] + named[:8])


def erasure_id(page: DocumentId) -> DocumentId:
    """Return the id of a page's erasure."""
    return DocumentId(page[:NAME_BYTES] + _ERASURE)


def is_erasure(former: bytes) -> bool:
    """Tell whether the id of a former version is that of an erasure."""
    return former[NAME_BYTES:] == _ERASURE


def name_of(former: bytes) -> bytes:
    """Return what the ids of a page and of its former versions begin with."""
    return former[:NAME_BYTES]


def former_range(page: DocumentId) -> tuple[bytes, bytes]:
    """Return the first and the last id that a former version of a page may have."""
    return page[:NAME_BYTES].ljust(20, b"\0"), page[:NAME_BYTES].ljust(20, b"\xff")


def former_flaw(record: Record, *, has_content: bool) -> str:
    """Say why the document in a FORMER record is none that a crawler writes, "" where it is one. Raises ValueError
    where it cannot be read."""
    page = page_in(record)
    return document_flaw(decode_document(page.body), page.version.at_ms / 1000, has_content=has_content)


class _Opened(NamedTuple):
    """The record that the author of another one signed, and a reason where there is none (`flaw`)."""

    signed: Record
    flaw: str = ""


def proof_flaws(records: Sequence[Record]) -> list[str]:
    """Say of each record why nothing proves it, "" where it proves itself: a former version by the page in it, from
    which all of it must follow."""
    opened = [_opened(record) if record.kind == Kind.FORMER else _Opened(record) for record in records]
    forged = forgeries([each.signed for each in opened])
    return [each.flaw or forgery for each, forgery in zip(opened, forged, strict=True)]


def _opened(record: Record) -> _Opened:
    try:
        page = page_in(record)
        is_whole = page.kind == Kind.DOCUMENT and digest_of(page.body, page.content_digest) == page.version.digest
        if is_whole and filed(page) == record:
            return _Opened(page)
    except (ValueError, RecursionError) as error:
        return _Opened(record, f"it holds no page: {error}")
    return _Opened(record, "it is not what follows from the page that it holds")


def _last_day(page: Record, document: Document) -> int:
    """The last day that a version may be kept: no longer than its author wishes, an erasure as long as any."""
    day = page.version.at_ms // DAY_MS
    return page.expires_day if page.expires_day < day + KEPT_DAYS and not document.gone else day + MOST_DAYS
