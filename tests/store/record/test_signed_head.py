"""A signed head proves which author wrote which version of which page, and nothing changed is believed."""

from msgspec import msgpack
from msgspec.structs import replace

from dht import Identity, document_id, placement_key
from store.record.package import sign_package
from store.record.record import Draft, Kind
from store.record.signed_head import SignedHead, encode_signed_head, open_signed_head

AUTHOR = Identity(b"\1" * 32)
URLS = [f"http://a.test/{n}" for n in range(5)]


def test_a_head_names_author_page_and_version() -> None:
    drafts = [
        Draft(Kind.DOCUMENT, document_id(u), placement_key(u), 3, 1000 + n, 20_000, b"b%d" % n)
        for n, u in enumerate(URLS)
    ]
    for record in sign_package(drafts, AUTHOR):
        head = open_signed_head(encode_signed_head(record))
        assert head is not None and head.author == AUTHOR.node_id
        assert (head.id, head.key, head.version) == (record.id, record.key, record.version.short)


def test_a_changed_head_or_junk_is_none() -> None:
    (record,) = sign_package([Draft(Kind.DOCUMENT, document_id(URLS[0]), placement_key(URLS[0]), 3, 9, 9, b"")], AUTHOR)
    data = encode_signed_head(record)
    head = msgpack.decode(data, type=SignedHead)
    others = [replace(head, at_ms=8), replace(head, id=bytes(20)), replace(head, index=1)]
    others.append(replace(head, public_key=Identity(b"\2" * 32).public_key))
    assert not any(open_signed_head(msgpack.encode(each)) for each in others)
    assert open_signed_head(b"junk") is None and open_signed_head(data[:-1]) is None
