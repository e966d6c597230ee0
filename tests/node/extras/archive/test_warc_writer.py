"""Our reader, warcio and FastWARC read the same from a WARC of ours."""

import gzip
import io

import pytest
from warcio.archiveiterator import ArchiveIterator

from node.captures.capture import Capture
from node.extras.archive.http_head import archived_headers
from node.extras.archive.warc_reader import read_warc
from node.extras.archive.warc_writer import write_warc
from tests.node.extras.archive.samples import CHINESE, FORBIDDEN, MADE_AT, SAMPLES


def written(*captures: Capture) -> bytes:
    out = io.BytesIO()
    summary = write_warc(captures, out, MADE_AT)
    assert summary.file_bytes == len(out.getvalue())
    return out.getvalue()


def test_every_sample_is_read_as_it_was_written() -> None:
    found = list(read_warc(io.BytesIO(written(*SAMPLES))))
    assert len(found) == len(SAMPLES)
    for sample, read in zip(SAMPLES, found, strict=True):
        assert isinstance(read, Capture)
        assert (read.url, read.status, read.content) == (sample.url, sample.status, sample.content)
        assert read.content_digest == sample.content_digest and read.request == sample.request
        assert read.captured_at == pytest.approx(max(sample.captured_at, 0), abs=1e-6)
        assert read.author == b""
        if sample.url != "http://a.example/odd":
            assert read.headers == sample.headers


def test_no_value_ends_its_line() -> None:
    odd = next(sample for sample in SAMPLES if sample.url.endswith("/odd"))
    [read] = read_warc(io.BytesIO(written(odd)))
    assert isinstance(read, Capture)
    assert read.headers == (("X-Odd", "a  Content-Length: 5"), ("X-Ü", "ü"))


def test_pages_whose_authors_forbid_copies_are_left_out_and_counted() -> None:
    out = io.BytesIO()
    summary = write_warc([*SAMPLES, FORBIDDEN], out, MADE_AT)
    assert (summary.captures, summary.forbidden) == (len(SAMPLES), 1)
    assert b"do not copy me" not in gzip.decompress(out.getvalue())


def test_the_same_captures_give_the_same_bytes() -> None:
    assert written(*SAMPLES) == written(*SAMPLES)


def test_header_fields_that_fit_the_body_keep_their_names() -> None:
    plain, packed = SAMPLES[0], SAMPLES[2]
    assert archived_headers(plain) == plain.headers
    assert [name for name, _ in archived_headers(packed)][1:] == [
        "X-Archive-Orig-Content-Encoding", "X-Archive-Orig-Content-Length", "X-Archive-Orig-transfer-encoding",
    ]  # fmt: skip


def test_warcio_reads_the_same() -> None:
    data = written(*SAMPLES)
    records = ArchiveIterator(io.BytesIO(data), check_digests="raise")
    pages = [(r, r.content_stream().read()) for r in records if r.rec_type in ("response", "resource")]
    assert [r.rec_headers["WARC-Target-URI"] for r, _ in pages] == [sample.url for sample in SAMPLES]
    assert [content for _, content in pages] == [sample.content for sample in SAMPLES]
    heads = [tuple(r.http_headers.headers) if r.http_headers else () for r, _ in pages]
    assert heads[1] == SAMPLES[1].headers and heads[2] == archived_headers(SAMPLES[2])
    codes = [r.http_headers.get_statuscode() for r, _ in pages if r.http_headers]
    assert [code for code in codes if code != "200"] == ["404", "500"]
    assert pages[1][1].decode("gb18030") == CHINESE.decode("gb18030")
    kinds = [r.rec_type for r in ArchiveIterator(io.BytesIO(data))]
    assert kinds[0] == "warcinfo" and kinds.count("request") == 1 and kinds.count("resource") == 1


def test_fastwarc_reads_the_same() -> None:
    warc = pytest.importorskip("fastwarc.warc", reason="fastwarc is not installed")
    wanted = warc.WarcRecordType.response | warc.WarcRecordType.resource
    found = []
    for record in warc.ArchiveIterator(io.BytesIO(written(*SAMPLES)), record_types=wanted):
        assert not record.is_http or record.verify_payload_digest()  # it knows no payload without an HTTP head
        found.append((record.headers["WARC-Target-URI"], record.http_charset, record.reader.read()))
    assert [(url, content) for url, _, content in found] == [(sample.url, sample.content) for sample in SAMPLES]
    assert found[0][1] == "utf-8" and found[1][1] in ("gb18030", "gb2312", "gbk")
