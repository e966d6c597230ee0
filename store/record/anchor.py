"""An anchor: the text of a link from another site, kept with the page that it leads to, as a record of kind ANCHOR.

Pure: values and their codec. All anchors of a page lie at its key, under ids that begin as its own and end with a
number that follows from the page and the registrable domain that links: so a domain counts once, however many pages
and links it has, and a page has MOST_ANCHORS at most. Of several domains with one number the highest version stays;
they share it at this page alone, so that no domain is in another's way wherever both link. Who writes one
held the lease of the slot of the page that links, and signs it for that one's key: it lies elsewhere from the start,
as records do whose site was spread later. A link that goes is withdrawn by a newer version without a text.
"""

from collections.abc import Iterable
from hashlib import sha256

import msgspec

from dht import DocumentId
from store.record.record import Record

MOST_ANCHORS = 64  # of one page
MAX_TEXT_CHARS = 160
_SAME = 19  # bytes with which the ids of a page and of its anchors begin
_ALL = b"\xff"  # in place of a number


class Anchor(msgspec.Struct, frozen=True, array_like=True):
    """Says how a page of another site calls one. `text`: "" where its link is gone."""

    url: str  # of the page that is called so
    source: str  # of the page that links
    text: str


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Anchor)


def encode_anchor(anchor: Anchor) -> bytes:
    """Encode the body of an ANCHOR record."""
    return _encoder.encode(anchor)


def decode_anchor(body: bytes) -> Anchor:
    """Decode the body of an ANCHOR record; raises msgspec.ValidationError where it is none."""
    return _decoder.decode(body)


def anchor_id(page: DocumentId, domain: str) -> DocumentId:
    """Return the id under which lies how a domain calls a page."""
    number = sha256(page[:_SAME] + domain.encode()).digest()[0] % MOST_ANCHORS
    return DocumentId(page[:_SAME] + bytes((number,)))


def page_part(id: DocumentId) -> bytes:
    """Return what the ids of a page and of its anchors have in common, given any of them."""
    return id[:_SAME]


def anchors_of(id: DocumentId) -> DocumentId:
    """Return what stands for all anchors of a page where records are asked for, given its id or that of any of them."""
    return DocumentId(id[:_SAME] + _ALL)


def are_asked(id: bytes) -> bool:
    """Tell whether the id of an anchor stands for all of its page."""
    return id[_SAME:] == _ALL


def stem_of(id: bytes) -> bytes:
    """Return what the ids of a page and of its anchors begin with."""
    return id[:_SAME]


def anchor_flaw(anchor: Anchor, id: bytes, page: DocumentId, domain: str, other: str) -> str:
    """Say why an anchor is none that a crawler writes, "" where it is one. `domain`, `other`: the registrable
    domains of the page that links, and of the page that is linked to, whose id is `page`."""
    if domain == other:
        return f"a link within {other!a}"
    if id != anchor_id(page, domain):
        return "id is not that of the domain that links"
    if len(anchor.text) > MAX_TEXT_CHARS or anchor.text != " ".join(anchor.text.split()):
        return f"a text of {len(anchor.text)} characters, or with odd spaces; {MAX_TEXT_CHARS} allowed"
    return ""


def standing_anchors(records: Iterable[Record]) -> list[tuple[Record, Anchor]]:
    """Return those anchors of a page whose links are there, in the order of their ids."""
    found = [(record, decode_anchor(record.body)) for record in sorted(records, key=lambda record: record.id)]
    return [(record, anchor) for record, anchor in found if anchor.text]
