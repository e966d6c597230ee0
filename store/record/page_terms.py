"""A page's terms on their way: what its author made of a page for the index, signed, beside the page.

Pure: values only. Such a record (kind TERMS) has the id, key, version but for the digest, and last day of its page. Its
body names the version of the page (32 bytes) and the digest of the terms (32); its content is what the index reads. So
it shows without its content what its author signed for that version, and whoever has the page can say whether that is
true. Nobody keeps it: who has indexed the page needs it no more, and who has not can analyse the page.
"""

from hashlib import sha256

from dht import DocumentId
from store.record.package import Signer, forgeries, open_package, pack, sign_package, size_of
from store.record.record import Draft, Kind, Record, digest_of

MOST_BYTES = 1 << 18  # of one page's terms
MOST_TOGETHER_BYTES = 15 << 16  # of one message, before compression: what cannot be compressed fits its bound
_DIGEST = 32
_NOTHING = sha256(b"").digest()


def sign_terms(drafts: list[Draft], signer: Signer) -> dict[DocumentId, Record]:
    """Return what travels beside some pages, by their ids, under one signature of its own: the trees of their packages
    stay as low as they are."""
    found = [
        Draft(Kind.TERMS, d.id, d.key, d.epoch, d.at_ms, d.expires_day, page_version(d) + d.terms.digest, d.terms.data)
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


def version_in(terms: Record) -> bytes:
    """Return the digest of the version of the page that terms are of."""
    return terms.body[:_DIGEST]


def digest_in(terms: Record) -> bytes:
    """Return the digest that an author signed for the terms of a page."""
    return terms.body[_DIGEST:]


def sound_terms(found: list[Record], pages: list[Record]) -> list[Record]:
    """Return those of the terms that came beside pages that are of one of them, by the same author, and signed."""
    by_name = {(page.id, page.version.digest): page for page in pages if page.kind == Kind.DOCUMENT}
    fitting = [record for record in found if _fits(record, by_name.get((record.id, version_in(record))))]
    return [record for record, forgery in zip(fitting, forgeries(fitting), strict=True) if not forgery]


def _fits(terms: Record, page: Record | None) -> bool:
    if page is None or terms.kind != Kind.TERMS or len(terms.body) != 2 * _DIGEST or not terms.content:
        return False
    is_small = len(terms.content) <= MOST_BYTES
    is_whole = is_small and sha256(terms.content).digest() == terms.content_digest
    return (
        is_whole
        and terms.proof.author == page.proof.author
        and terms.version.digest == digest_of(terms.body, terms.content_digest)
    )
