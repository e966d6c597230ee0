"""Parquet: a row a capture, for programs that analyse columns; needs the extra `parquet` (pyarrow), nothing else does.

Pure, but for the stream that it writes to. Rows are gathered into groups, so a group is what it holds in memory.
"""

from collections.abc import Iterable, Iterator
from typing import IO, Any

from node.captures.capture import Capture, instant
from node.extras.archive.archive_output import ArchiveOutput, ExportSummary

GROUP_ROWS, GROUP_BYTES = 1_000, 32 << 20


def write_parquet(captures: Iterable[Capture], file: IO[bytes]) -> ExportSummary:
    """Write captures as they come; raises ImportError without pyarrow."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    schema, out = _schema(pyarrow), ArchiveOutput(file)
    with (
        pyarrow.PythonFile(out, mode="w") as sink,
        ParquetWriter(sink, schema, compression="zstd", use_dictionary=["media_type", "charset", "language"]) as writer,
    ):
        for group in _groups(out.allowed(captures)):
            columns = [[row[n] for row in group] for n in range(len(schema))]
            writer.write_table(pyarrow.table(columns, schema=schema))
    return out.summary()


def _schema(pyarrow: Any) -> Any:
    pairs = pyarrow.list_(pyarrow.struct([("name", pyarrow.string()), ("value", pyarrow.string())]))
    text, time = pyarrow.string(), pyarrow.timestamp("us", tz="UTC")
    return pyarrow.schema([
        ("url", text), ("captured_at", time), ("status", pyarrow.int32()), ("headers", pairs),
        ("content", pyarrow.binary()), ("content_digest", pyarrow.binary(32)), ("media_type", text), ("charset", text),
        ("language", text), ("title", text), ("text", text), ("expires_at", time), ("author", pyarrow.binary()),
        ("origin", text), ("links", pyarrow.list_(text)),
    ])  # fmt: skip


def _groups(captures: Iterable[Capture]) -> Iterator[list[tuple[object, ...]]]:
    rows: list[tuple[object, ...]] = []
    size = 0
    for capture in captures:
        rows.append(_row(capture))
        size += len(capture.content) + len(capture.text)
        if len(rows) == GROUP_ROWS or size > GROUP_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _row(capture: Capture) -> tuple[object, ...]:
    headers = [{"name": name, "value": value} for name, value in capture.headers]
    return (
        capture.url, instant(capture.captured_at), capture.status, headers, capture.content, capture.content_digest,
        capture.media_type, capture.charset, capture.language, capture.title, capture.text,
        instant(capture.expires_at) if capture.expires_at else None, capture.author, capture.origin, capture.links,
    )  # fmt: skip
