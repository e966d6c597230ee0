import contextlib
import gzip
import tracemalloc
from io import BytesIO
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from node.jobs.seed_files import MAX_LINE_BYTES, BadSeedFile, read_seeds


def test_one_url_a_line(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes("\ufeffhttp://a.test/\r\n\n# a remark\n  b.test/ü  \nlast".encode())
    assert list(read_seeds(file)) == ["http://a.test/", "b.test/ü", "last"]


def warc(path: Path, compressed: bool) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=compressed)
        for number in range(3):
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            url = f"http://a.test/{number}"
            for kind in ("response", "request"):
                writer.write_record(writer.create_warc_record(url, kind, BytesIO(b"<p>x"), http_headers=head))
        for url in ("urn:uuid:1", "dns:a.test"):
            writer.write_record(writer.create_warc_record(url, "response", BytesIO(b"x"), warc_content_type="text/dns"))


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz", "X.WARC.GZ", "no-name"])
def test_the_responses_of_a_warc(tmp_path: Path, name: str) -> None:
    warc(tmp_path / name, name.lower().endswith("gz"))
    assert list(read_seeds(tmp_path / name)) == [f"http://a.test/{n}" for n in range(3)]


HEAD = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\n"
MEGABYTE = b"a" * (1 << 20)
BOMBS = {
    "a line": (MEGABYTE,),
    "a field": (HEAD + b"X: ", MEGABYTE),
    "fields": (HEAD, b"X: y\r\n" * 170_000),
    "a body": (HEAD + b"Content-Length: 999999999999\r\n\r\n", MEGABYTE),
    "members": (gzip.compress(b""),),
    "blank lines": (b"\r\n" * 500_000,),
}


@pytest.mark.parametrize("what", BOMBS)
def test_a_small_file_that_holds_very_much_takes_little_memory(tmp_path: Path, what: str) -> None:
    path = tmp_path / "x.warc.gz"
    first, *rest = BOMBS[what]
    with gzip.open(path, "wb") as file:
        file.write(first)
        for _ in range(16):
            file.write((rest or [first])[-1])
    tracemalloc.start()
    with contextlib.suppress(BadSeedFile):
        list(read_seeds(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 << 20


def test_a_warc_that_was_cut_short_gives_what_is_there_and_says_so(tmp_path: Path) -> None:
    warc(tmp_path / "x.warc", False)
    whole = (tmp_path / "x.warc").read_bytes()
    (tmp_path / "x.warc").write_bytes(whole[: whole.index(b"http://a.test/1") + 400])
    found = read_seeds(tmp_path / "x.warc")
    assert next(found) == "http://a.test/0"
    with pytest.raises(BadSeedFile, match="is no WARC"):
        list(found)


def test_bookmarks_of_a_browser_and_subscriptions_of_a_feed_reader_are_lists(tmp_path: Path) -> None:
    (tmp_path / "bookmarks.html").write_text(
        "\ufeff<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<!-- automatic -->\n<DL><p>\n"
        '<DT><A HREF="https://a.test/?x=1&amp;y=2" ADD_DATE="1" ICON_URI="https://icon.test/i.png">A</A>\n'
        '<DT><A HREF="javascript:alert(1)">no</A><DT><A HREF="place:sort=8">no</A><DT><A HREF=\'http://b.test/\'>B</A>'
    )
    (tmp_path / "feeds").write_text(
        '<?xml version="1.0"?><opml version="2.0"><body><outline text="A" xmlUrl="https://a.test/feed"\n'
        ' htmlUrl="https://a.test/"/><outline xmlUrl="https://a.test/feed"/></body></opml>'
    )
    assert list(read_seeds(tmp_path / "bookmarks.html")) == ["https://a.test/?x=1&y=2", "http://b.test/"]
    assert list(read_seeds(tmp_path / "feeds")) == ["https://a.test/feed", "https://a.test/"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("none", None, "no such file"),
        ("a.txt", b"http://a.test/\n\xff\xfe\n", "line 2 is not text"),
        ("a.txt", b"x" * (MAX_LINE_BYTES + 1), "line 1 is longer"),
        ("a.gz", gzip.compress(b"http://a.test/", mtime=0), "is compressed"),
        ("a.warc", b"http://a.test/\n", "is no WARC"),
        ("a.warc.gz", b"\x1f\x8b\x08\x00\x00\x00", "is no WARC"),
    ],
)
def test_what_is_no_seed_file_is_told_in_one_line(
    tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadSeedFile, match=reason) as caught:
        list(read_seeds(tmp_path / name))
    assert "\n" not in str(caught.value) and name in str(caught.value)
