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
    """The body of a STANDING record. Its content is the page's."""

    url: str
    head: bytes  # the page's record without its content, as it lies in segments


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(StandingBody)


def standing_draft(page: Record, url: str) -> Draft:
    """Return the draft that keeps a version of a page, which has its content here."""
    epoch, at_ms, _ = page.version
    body = _encoder.encode(StandingBody(url, encode_head(page)))
    return Draft(
        Kind.STANDING, page.id, page.key, epoch, at_ms, page.expires_day, body, page.content or b"",
        page.content_digest if page.content else b"",
    )  # fmt: skip


def page_in(standing: Record) -> Record:
    """Return the page that a STANDING record holds; raises ValueError where it holds none."""
    page = decode_head(_decoder.decode(standing.body).head)
    return replace(page, content=standing.content)


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
