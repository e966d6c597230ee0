"""A page's terms on their way: what its author made of a page for the index, signed, beside the page.

Pure: values only. Such a record (kind TERMS) has the id, key, version but for the digest, and last day of its page. Its
body (`TermsBody`) names the version of the page, the digest of the terms and their analyzer; its content is what the
index reads. So it shows without its content what its author signed for that version, and whoever has the page can say
whether that is true. Nobody keeps it: who has indexed the page needs it no more, and who has not can analyse the page.
"""

import struct
from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from dht import DocumentId
from store.record.package import Signer, forgeries, open_package, pack, sign_package, size_of
from store.record.record import Draft, DraftTerms, Kind, Record, digest_of

MOST_BYTES = 1 << 18  # of one page's terms
MOST_TOGETHER_BYTES = 15 << 16  # of one message, before compression: what cannot be compressed fits its bound
_BODY = struct.Struct("<32s32sH")
_NOTHING = sha256(b"").digest()


class TermsBody(NamedTuple):
    """What an author signs of a page's terms."""

    version: bytes  # the digest of the page's version, 32 bytes
    digest: bytes  # of the terms, 32 bytes
    analyzer: int  # its number


def sign_terms(drafts: list[Draft], signer: Signer) -> dict[DocumentId, Record]:
    """Return what travels beside some pages, by their ids, under one signature of its own: the trees of their packages
    stay as low as they are."""
    found = [
        Draft(Kind.TERMS, d.id, d.key, d.epoch, d.at_ms, d.expires_day, _body(d, d.terms), d.terms.data)
        for d in drafts
        if d.terms is not None and len(d.terms.data) <= MOST_BYTES
    ]
    return {record.id: record for record in sign_package(found, signer)} if found else {}


def pack_beside(found: list[Record]) -> bytes:
    """Pack what goes to a peer beside its pages, as much as fits into a message; b"" where that is nothing."""
    fitting, size = list[Record](), 0
    for record in found:
        size += size_of(record)
        if size > MOST_TOGETHER_BYTES:
            break
        fitting.append(record)
    return pack(fitting) if fitting else b""


def open_beside(data: bytes) -> list[Record]:
    """Return what `pack_beside` packed; raises BadReplica for anything else."""
    return open_package(data, MOST_TOGETHER_BYTES) if data else []


def page_version(draft: Draft) -> bytes:
    """Return the digest that the version of a draft will have."""
    digest = (draft.content_digest or sha256(draft.content).digest()) if draft.content else _NOTHING
    return digest_of(draft.body, digest)


def terms_body(terms: Record) -> TermsBody:
    """Return what a record of terms says; raises ValueError where it is none."""
    if terms.kind != Kind.TERMS or len(terms.body) != _BODY.size:
        raise ValueError(f"a {terms.kind.name} with a body of {len(terms.body)} bytes is no page's terms")
    return TermsBody._make(_BODY.unpack(terms.body))


def sound_terms(found: list[Record], pages: list[Record]) -> list[Record]:
    """Return those of the terms that came beside pages that are of one of them, by the same author, and signed."""
    by_name = {(page.id, page.version.digest): page for page in pages if page.kind == Kind.DOCUMENT}
    fitting = [record for record in found if _fits(record, by_name)]
    return [record for record, forgery in zip(fitting, forgeries(fitting), strict=True) if not forgery]


def proven_terms(terms: Record) -> TermsBody | None:
    """Return what a record of terms says, its content withheld or not, None where its author did not sign it so."""
    try:
        body = terms_body(terms)
    except ValueError:
        return None
    is_whole = terms.version.digest == digest_of(terms.body, terms.content_digest)
    return body if is_whole and not forgeries([terms])[0] else None


def _body(draft: Draft, terms: DraftTerms) -> bytes:
    return _BODY.pack(page_version(draft), terms.digest, terms.analyzer)


def _fits(terms: Record, pages: Mapping[tuple[DocumentId, bytes], Record]) -> bool:
    if terms.kind != Kind.TERMS or len(terms.body) != _BODY.size or not terms.content:
        return False
    page = pages.get((terms.id, terms_body(terms).version))
    if page is None or terms.proof.author != page.proof.author or len(terms.content) > MOST_BYTES:
        return False
    is_whole = terms.version.digest == digest_of(terms.body, terms.content_digest)
    return is_whole and sha256(terms.content).digest() == terms.content_digest
