"""Records of a moment ago come from memory, and never an older version than the store's."""

from hashlib import sha256

from dht import document_id, placement_key
from store.catalog.recent_records import RecentRecords
from store.record.record import Kind, Proof, Record, Version


def record(number: int, at_ms: int = 1, body: bytes = b"x" * 1000) -> Record:
    url = f"http://a.test/{number}"
    proof = Proof(bytes(32), bytes(64), 0, ())
    version = Version(1, at_ms, sha256(body).digest())
    return Record(Kind.VISIT, document_id(url), placement_key(url), version, 99, body, b"content", bytes(32), proof)


def test_the_newest_version_is_found_without_its_content():
    recent = RecentRecords(1 << 20)
    recent.keep(record(1))
    recent.keep(record(1, at_ms=2))
    found = recent.find(Kind.VISIT, record(1).id)
    assert found is not None and (found.version.at_ms, found.content) == (2, None)
    assert recent.find(Kind.DOCUMENT, record(1).id) is None
    recent.clear()
    assert recent.find(Kind.VISIT, record(1).id) is None


def test_memory_is_bounded_and_the_oldest_go_first():
    recent = RecentRecords(10 * 2024)
    for number in range(50):
        recent.keep(record(number))
        recent.keep(record(number, at_ms=2))
    kept = [number for number in range(50) if recent.find(Kind.VISIT, record(number).id)]
    assert kept == list(range(40, 50))
    recent.keep(record(0, body=b"y" * 50_000))
    assert not any(recent.find(Kind.VISIT, record(number).id) for number in range(50)), "it alone is too much"
