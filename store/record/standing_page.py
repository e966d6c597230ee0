"""The version of a page that stands: kind STANDING, which holds it beside a newer one that may not replace it yet.

Pure: values and their codec. Who keeps such a record signs it, in its own name; what counts is inside, the page's own
record with its author's proof. All who sign it write the same body, so its version is the same, too. It is shown
instead of the DOCUMENT beside it.
"""

import msgspec
from msgspec.structs import replace

from store.record.document import decode_document, document_flaw
from store.record.package import decode_head, encode_head, forgeries
from store.record.record import Draft, Kind, Record, digest_of


class StandingBody(msgspec.Struct, frozen=True, array_like=True):
    """The body of a STANDING record, and of a FORMER one. Its content is the page's."""

    url: str
    head: bytes  # the page's record without its content, as it lies in segments


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(StandingBody)


def standing_draft(page: Record, url: str) -> Draft:
    """Return the draft that keeps a version of a page, which has its content here."""
    epoch, at_ms, _ = page.version
    body = encode_page(page, url)
    return Draft(
        Kind.STANDING, page.id, page.key, epoch, at_ms, page.expires_day, body, page.content or b"",
        page.content_digest if page.content else b"",
    )  # fmt: skip


def encode_page(page: Record, url: str) -> bytes:
    """Encode a page's record as the body of another, without its content."""
    return _encoder.encode(StandingBody(url, encode_head(page)))


def page_in(record: Record) -> Record:
    """Return the page that a STANDING or FORMER record holds; raises ValueError where it holds none. A former one lies
    where its record does, to which its site may have been spread since."""
    page = replace(decode_head(_decoder.decode(record.body).head), content=record.content)
    if record.kind != Kind.FORMER:
        return page
    return replace(page, key=record.key, proof=replace(page.proof, key=record.proof.key))


def standing_flaw(body: bytes, content_digest: bytes, epoch: int, at_ms: int, *, has_content: bool) -> str:
    """Say why a body holds no page of this version that its author signed, "" where it does. Raises ValueError where it
    cannot be read."""
    held = _decoder.decode(body)
    page = decode_head(held.head)
    document = decode_document(page.body)
    if page.kind != Kind.DOCUMENT or document.url != held.url or page.version[:2] != (epoch, at_ms):
        return "it holds another page, or another version"
    if page.content_digest != content_digest or digest_of(page.body, content_digest) != page.version.digest:
        return "the page that it holds does not fit its digest"
    if forged := forgeries([page])[0]:
        return f"the page that it holds: {forged}"
    return document_flaw(document, at_ms / 1000, has_content=has_content)
