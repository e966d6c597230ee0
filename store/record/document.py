"""The document: a stored version of a page, as it lies in the body of a DOCUMENT record.

Pure: values and their codec. The content (the page's bytes as received, decoded from its transfer and content
codings) is the record's content; a *gone* version (404, 410, noindex) has none and removes the page from answers.
"""

import msgspec


class Document(msgspec.Struct, frozen=True, array_like=True):
    """What the web said at one URL. Text is Unicode, normalised by nobody; times are Unix seconds."""

    url: str  # canonical
    fetched_at: float
    status: int
    headers: tuple[tuple[str, str], ...] = ()  # response head as received, bounded
    media_type: str = ""
    charset: str = ""
    language: str = ""  # ISO 639-1, "" unknown
    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    links: tuple[tuple[str, str], ...] = ()  # (canonical URL, anchor text), bounded
    gone: bool = False
    signature: bytes = b""  # of the text: two that differ in few bits are near duplicates (crawl/content/similarity.py)
    description: str = ""  # by the page's own word, as are the two times
    published_at: float = 0.0  # 0.0 unknown
    modified_at: float = 0.0
    boilerplate: str = ""  # menus, footers and the like, which people see besides `text` (crawl/content/boilerplate.py)
    max_snippet: int = -1  # characters of its text that its author lets others show; -1: any number
    noarchive: bool = False  # its author lets nobody show a copy


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Document)


def encode_document(document: Document) -> bytes:
    """Encode the body of a DOCUMENT record."""
    return _encoder.encode(document)


def decode_document(body: bytes) -> Document:
    """Decode the body of a DOCUMENT record; raises msgspec.ValidationError where it is none."""
    return _decoder.decode(body)
