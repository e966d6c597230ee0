"""Parquet has a row for each capture that may be copied, as pyarrow reads it."""

import io
from hashlib import sha256

import pytest
from msgspec.structs import replace

from node.extras.archive import parquet
from tests.node.extras.archive.samples import FORBIDDEN, SAMPLES


def test_every_capture_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    monkeypatch.setattr(parquet, "GROUP_ROWS", 4)
    out = io.BytesIO()
    samples = [replace(SAMPLES[0], links=("http://a.test/", "http://b.test/")), *SAMPLES[1:]]
    summary = parquet.write_parquet([*samples, FORBIDDEN], out)
    data = out.getvalue()
    assert (summary.captures, summary.forbidden) == (len(SAMPLES), 1)
    assert (summary.file_bytes, summary.file_digest) == (len(data), sha256(data).digest())
    assert reader.ParquetFile(io.BytesIO(data)).num_row_groups == 3
    rows = reader.read_table(io.BytesIO(data)).to_pylist()
    for row, sample in zip(rows, samples, strict=True):
        assert (row["url"], row["status"], row["content"]) == (sample.url, sample.status, sample.content)
        assert tuple((pair["name"], pair["value"]) for pair in row["headers"]) == sample.headers
        assert row["captured_at"].timestamp() == pytest.approx(max(0.0, sample.captured_at))
        assert row["links"] == list(sample.links)
        assert row["content_digest"] == sample.content_digest and row["expires_at"] is None
