"""The list of releases: only whole lists that enough trusted keys signed, and that have not expired, are read."""

from dataclasses import replace

import msgspec
import pytest

from dht import Identity, Publishers, decode_signed, encode_signed
from node.errors import BadFeed
from node.release_feed import (
    MAX_FILES,
    MAX_RELEASES,
    VALID_S,
    Release,
    ReleaseFeed,
    ReleaseFile,
    read_feed,
    sign_feed,
    with_release,
)

NOW = 1_800_000_000
KEYS = [Identity(bytes([number]) * 32) for number in (1, 2, 3)]
TRUSTED = Publishers(tuple(key.public_key.hex() for key in KEYS[:2]), 1)
WHEEL = ReleaseFile("dse_node-1.0.0-cp311-abi3-manylinux_2_17_x86_64.whl", 2_840_920, "ab" * 32)


def release(version: str = "1.0.0", committed_at: int = NOW, files: tuple[ReleaseFile, ...] = (WHEEL,)) -> Release:
    return Release(version, committed_at, files)


FEED = with_release(None, release())


def test_a_signed_list_is_read_as_it_was_written():
    data = sign_feed(FEED, KEYS[0])
    assert read_feed(data, TRUSTED, NOW) == FEED
    assert data == sign_feed(FEED, KEYS[0]), "a second build of a commit has another list"


@pytest.mark.parametrize("signers", [[], [KEYS[2]]], ids=["nobody", "a stranger"])
def test_a_list_that_nobody_trusted_signed_is_refused(signers: list[Identity]):
    with pytest.raises(BadFeed, match="0 valid signatures of 1 needed"):
        read_feed(sign_feed(FEED, *signers), TRUSTED, NOW)


def test_as_many_keys_must_have_signed_as_the_threshold_says():
    both = replace(TRUSTED, threshold=2)
    with pytest.raises(BadFeed, match="1 valid signatures of 2"):
        read_feed(sign_feed(FEED, KEYS[0], KEYS[0]), both, NOW)
    assert read_feed(sign_feed(FEED, *KEYS), both, NOW) == FEED


def test_a_changed_list_is_refused():
    signed = decode_signed(sign_feed(FEED, KEYS[0]))
    other = replace(signed, document=signed.document.replace(b"abab", b"abac"))
    with pytest.raises(BadFeed, match="0 valid signatures"):
        read_feed(encode_signed(other), TRUSTED, NOW)


def test_a_signature_of_a_strategy_counts_for_no_list():
    signed = decode_signed(sign_feed(FEED))
    strategys = KEYS[0].sign(b"dse strategy", signed.document).hex()
    of_strategy = msgspec.convert({"key": KEYS[0].public_key.hex(), "signature": strategys}, dict[str, str])
    data = msgspec.json.encode({"document": msgspec.Raw(signed.document), "signatures": [of_strategy]})
    with pytest.raises(BadFeed, match="0 valid"):
        read_feed(data, TRUSTED, NOW)


@pytest.mark.parametrize(("now", "reason"), [(NOW + VALID_S, "expired"), (NOW - 2 * 86400, "future")])
def test_a_list_of_another_time_is_refused(now: int, reason: str):
    with pytest.raises(BadFeed, match=reason):
        read_feed(sign_feed(FEED, KEYS[0]), TRUSTED, now)
    assert read_feed(sign_feed(FEED, KEYS[0]), TRUSTED, NOW + VALID_S - 1) == FEED


def test_the_newest_release_comes_first_and_each_version_once():
    feed = with_release(with_release(FEED, release("1.10.0", NOW + 2)), release("1.9.0", NOW + 1))
    assert [each.version for each in feed.releases] == ["1.10.0", "1.9.0", "1.0.0"]
    again = with_release(feed, release("1.9.0", NOW + 9))
    assert [each.committed_at for each in again.releases] == [NOW + 2, NOW + 9, NOW]


def test_the_longest_list_is_read():
    files = tuple(replace_name(WHEEL, f"{number:0128}") for number in range(MAX_FILES))
    feed: ReleaseFeed | None = None
    for number in range(MAX_RELEASES + 1):
        feed = with_release(feed, release(f"1.{number}.0", files=files))
    assert feed and feed.releases[-1].version == "1.1.0"
    assert read_feed(sign_feed(feed, *KEYS), TRUSTED, NOW) == feed


def replace_name(file: ReleaseFile, name: str) -> ReleaseFile:
    return msgspec.structs.replace(file, name=name)


@pytest.mark.parametrize(
    ("feed", "reason"),
    [
        (ReleaseFeed(NOW, ()), "0 releases"),
        (ReleaseFeed(NOW, (release("1.0.0"), release("1.0.1"))), "newest is not the first"),
        (ReleaseFeed(NOW, (release("1.0.0"), release("1.0.0"))), "newest is not the first"),
        (ReleaseFeed(NOW, (release("../1"),)), "no version"),
        (ReleaseFeed(NOW, (release(files=()),)), "0 files"),
        (ReleaseFeed(NOW, (release(files=(WHEEL, WHEEL)),)), "different names"),
        (ReleaseFeed(NOW, (release(files=(replace_name(WHEEL, "../../etc/passwd"),)),)), "none: '../../etc"),
        (ReleaseFeed(NOW, (release(files=(msgspec.structs.replace(WHEEL, sha256="ab"),)),)), "none"),
        (ReleaseFeed(NOW, (release(files=(msgspec.structs.replace(WHEEL, bytes=0),)),)), "none"),
    ],
)
def test_a_list_out_of_its_bounds_is_signed_by_nobody(feed: ReleaseFeed, reason: str):
    with pytest.raises(BadFeed, match=reason):
        sign_feed(feed, KEYS[0])


@pytest.mark.parametrize("data", [b"", b"{}", b"[" * 100_000, b'{"document": {}, "signatures": []}', b" " * 400_000])
def test_strangers_bytes_are_refused(data: bytes):
    with pytest.raises(BadFeed):
        read_feed(data, TRUSTED, NOW)
