"""The thesis's formats byte by byte, and both ways."""

import io
import zipfile

import msgspec
import pytest

from node.captures.capture import Capture
from node.extras.archive.read_limits import ArchiveFlaw, ReadLimits
from node.extras.archive.spf import capture_of_object, read_package, read_spf, web_object, write_spf
from node.extras.archive.web_object import (
    PackageDescription,
    WebObject,
    decode_object,
    decode_object_head,
    description_line,
    encode_description,
    encode_object,
    exponent_of,
)
from tests.node.extras.archive.samples import FORBIDDEN, SAMPLES

AT_MS = 1_142_166_030_564  # 2006-03-12 12:20:30.564 UTC, the thesis's example of a name
PAGE = WebObject("http://a.cn/", "text/html", b"<p>hi", AT_MS, AT_MS + 16 * 86_400_000, 250)
WEBO = (
    bytes.fromhex(
        "FF 57 45 42 4F 01  00 09  00 0C  00 00 00 05"  # magic, version, lengths of MIME type, URL, data
        "00 00 00 FA  00 00 01 09 EE 66 88 E4  00 00 01 0A 40 CC 48 E4"  # cost, fetched at, expires at
    )
    + b"text/htmlhttp://a.cn/<p>hi"
)
WOP_HEAD = bytes.fromhex("FF FF 57 4F 50 01 0D 0A")
WOPD_HEAD = bytes.fromhex(
    "FF 57 4F 50 44 01  00 04  00 02  00 00 01 09 EE 66 88 E4  00 00 01 0A 40 CC 48 E4  0D 0A"
)  # fmt: skip
DESCRIPTION = PackageDescription(4, 2, PAGE.fetched_at_ms, PAGE.expires_at_ms)


def test_a_web_object_byte_by_byte() -> None:
    assert encode_object(PAGE) == WEBO
    head = decode_object_head(WEBO[:14])
    assert decode_object(head, WEBO[14 : 14 + head.rest_bytes], WEBO[14 + head.rest_bytes :]) == PAGE


def test_a_description_byte_by_byte() -> None:
    assert encode_description(DESCRIPTION) == WOPD_HEAD and len(WOPD_HEAD) == 28
    assert DESCRIPTION.name == "4_2_20060312122030564"
    assert description_line("http://a.cn/", 8, 60) == b"http://a.cn/ 8 60\r\n"


def test_classes_of_validity() -> None:
    assert [exponent_of(4, days) for days in (-1.0, 0.5, 1.0, 1.1, 16.0, 17.0, 1e9)] == [0, 0, 0, 1, 2, 3, 7]


def spf(*captures: Capture, made_at: float = AT_MS / 1000) -> bytes:
    out = io.BytesIO()
    summary = write_spf(captures, out, made_at)
    assert summary.captures + summary.forbidden + summary.unfit == len(captures)
    return out.getvalue()


def lasting(capture: Capture, days: int) -> Capture:
    return msgspec.structs.replace(capture, expires_at=capture.captured_at + days * 86_400)


def test_a_package_is_read_and_written_again_byte_by_byte() -> None:
    data = spf(lasting(SAMPLES[0], 10), lasting(SAMPLES[1], 300), lasting(SAMPLES[2], 16), FORBIDDEN, SAMPLES[4])
    found = [item for item in read_spf(io.BytesIO(data)) if isinstance(item, Capture)]
    assert [item.url for item in found] == [SAMPLES[0].url, SAMPLES[2].url, SAMPLES[1].url]  # by class
    assert found[2].content == SAMPLES[1].content and found[2].charset == "gb18030"
    assert spf(*found) == data
    with zipfile.ZipFile(io.BytesIO(data)) as files:
        assert files.namelist()[:2] == ["4_2_20060312122030564.webop", "4_2_20060312122030564.webop.desc"]
        package, description = files.read(files.namelist()[0]), files.read(files.namelist()[1])
    assert package.startswith(WOP_HEAD + b"\xffWEBO\x01") and description[:18] == WOPD_HEAD[:18]
    for line, capture in zip(description[28:].splitlines(), found, strict=False):
        url, begins_at, size = line.decode().split(" ")
        assert url == capture.url
        head = decode_object_head(package[int(begins_at) :][:14])
        assert 14 + head.rest_bytes + head.data_bytes == int(size)


def test_a_page_is_valid_until_its_next_change_is_expected() -> None:
    page = msgspec.structs.replace(lasting(SAMPLES[0], 300), changes_at=SAMPLES[0].captured_at + 3 * 86_400)
    assert web_object(page).expires_at_ms - web_object(page).fetched_at_ms == 3 * 86_400_000
    with zipfile.ZipFile(io.BytesIO(spf(page))) as files:
        assert files.namelist()[0].startswith("4_1_"), "four days, and not 256"


def test_a_broken_package_gives_what_came_before() -> None:
    package = WOP_HEAD + WEBO + WEBO
    for end in range(len(package)):
        found = list(read_package(io.BytesIO(package[:end])))
        whole = (end - 8) // len(WEBO) if end >= 8 else 0
        assert sum(isinstance(item, Capture) for item in found) == whole
        assert end in (8, 8 + len(WEBO)) or isinstance(found[-1], ArchiveFlaw)


def test_an_object_that_is_too_large_costs_itself() -> None:
    large = encode_object(msgspec.structs.replace(PAGE, data=bytes(5_000)))
    found = list(read_package(io.BytesIO(WOP_HEAD + large + WEBO), ReadLimits(record_bytes=4_000)))
    assert isinstance(found[0], ArchiveFlaw) and isinstance(found[1], Capture) and len(found) == 2


@pytest.mark.parametrize(
    "bent", [WEBO.replace(b"http://a", b"\xfftp://a"), WEBO.replace(b"http", b"file"), b"\xff" * 90]
)
def test_bent_objects_are_named(bent: bytes) -> None:
    found = list(read_package(io.BytesIO(WOP_HEAD + WEBO + bent)))
    assert isinstance(found[0], Capture) and isinstance(found[1], ArchiveFlaw)


def test_what_is_read_back_is_no_newer_than_what_was_written() -> None:
    page = msgspec.structs.replace(SAMPLES[0], captured_at=1_795_670_004.735887)
    assert capture_of_object(web_object(page)).captured_at <= page.captured_at
