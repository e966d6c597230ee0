"""Host records: one for each site, at its home, and nothing else passes for one."""

import msgspec
import pytest

from dht import Key, document_id, placement_key
from store import Draft, HostAlias, HostRecord, Kind, Record, host_name, host_url
from store.record.host_record import decode_host, encode_host, host_flaw
from store.record.record_check import RecordCheck
from tests.store.support import DAY, NoBodyRules, flaws, records

BIG = HostRecord("https://big.example/", 3, 1, 1e9)


MIRROR = HostAlias(False, "https://big.example/", 1e9, 1)
BAD_ALIASES = (
    (True, "https://big.example/"),  # itself
    (True, "https://other.example/page"),
    (True, "https://other.example/?x"),
    (True, "https://other.example"),
    (True, "ftp://other.example/"),
    (True, "https://[/"),
    (True, ""),
    (True, f"https://{'a' * 300}.example/"),
    (True, "https://other.example/", float("inf")),
    (True, "https://other.example/", 1.0, 2),
)


def host_draft(host: HostRecord, **changes: object) -> Draft:
    fields = {
        "kind": Kind.HOST,
        "id": document_id(host.url),
        "key": placement_key(host.url),
        "epoch": 7,
        "at_ms": 10**12,
    }
    return Draft(**fields | {"expires_day": DAY + 9, "body": encode_host(host)} | changes)  # type: ignore[arg-type]


def flaw(draft: Draft) -> str:
    (record,) = records(draft)
    return flaws([record])[0]


def test_both_schemes_of_a_site_share_one_record() -> None:
    assert host_url("big.example") == "https://big.example/"
    assert host_url("big.example:8080") == "https://big.example:8080/"
    assert host_url("big.example:443") == "http://big.example:443/"  # https drops its own port
    assert host_name("big.example") == (document_id(BIG.url), placement_key(BIG.url))


def test_a_record_comes_back_as_it_went() -> None:
    assert decode_host(encode_host(BIG)) == BIG
    assert flaw(host_draft(BIG)) == ""
    named = msgspec.structs.replace(BIG, aliases=(MIRROR, HostAlias(True, "http://other.example:8080/", 1e9)))
    assert decode_host(encode_host(named)) == named and not flaw(host_draft(named))
    longer = msgspec.msgpack.encode((*msgspec.structs.astuple(BIG), "a later field"))
    assert decode_host(longer) == BIG
    assert decode_host(msgspec.msgpack.encode(("https://big.example/",))) == HostRecord("https://big.example/")


@pytest.mark.parametrize(
    "host",
    [
        HostRecord("https://big.example/page", 1),
        HostRecord("https:///", 1),
        HostRecord("https://[/", 1),
        HostRecord("https://big.example/", 1, 2),
        HostRecord("https://big.example/", 9),
        HostRecord("https://big.example/", 1, 0, float("nan")),
        *(HostRecord("https://big.example/", aliases=(HostAlias(*alias),)) for alias in BAD_ALIASES),  # type: ignore[arg-type]
        HostRecord("https://big.example/", aliases=(MIRROR,) * 3),
    ],
)
def test_what_is_no_host_record_is_refused(host: HostRecord) -> None:
    assert host_flaw(encode_host(host), placement_key(BIG.url), 1e9)


def test_a_host_record_lies_at_home_alone() -> None:
    deep = next(u for n in range(99) if placement_key(u := f"https://site{n}.example/", 2) != placement_key(u))
    assert flaw(host_draft(HostRecord(deep, 2), key=placement_key(deep, 2)))


def test_a_record_at_a_place_that_is_not_known_yet_is_taken_and_one_at_no_place_is_not() -> None:
    def page(key: Key) -> Record:
        body = msgspec.msgpack.encode((url, 0.0))
        return records(Draft(Kind.VISIT, document_id(url), key, 0, 1, DAY + 9, body))[0]

    url = next(u for n in range(99) if placement_key(u := f"https://site{n}.example/", 2) != placement_key(u))
    check = RecordCheck(NoBodyRules()).flaws
    assert not check([page(placement_key(url))])[0].reason
    assert check([page(placement_key(url, 2))])[0].reason, "without places no site is spread"
    assert check([page(Key(bytes(20)))])[0].reason
