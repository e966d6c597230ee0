"""Archives that a stranger made to do harm: each costs little, what is wrong in it is named, and nothing is raised.

`corpus/` keeps archives as bytes beside the other files that once did harm (test_kept_corpus.py).
"""

import gzip
import io
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import IO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.captures.capture import Capture
from node.extras.archive.json_lines import read_json_lines, write_json_lines
from node.extras.archive.read_limits import ArchiveFlaw
from node.extras.archive.spf import read_spf, write_spf
from node.extras.archive.wacz import read_wacz, write_wacz
from node.extras.archive.warc_reader import read_warc
from node.extras.archive.warc_writer import write_warc
from tests.node.extras.archive.samples import MADE_AT, SAMPLES
from tests.parameters import proved

CORPUS = Path(__file__).parent / "corpus"
READERS: dict[str, Callable[[IO[bytes]], Iterator[Capture | ArchiveFlaw]]] = {
    ".gz": read_warc, ".wacz": read_wacz, ".jsonl": read_json_lines, ".spf": read_spf,
}  # fmt: skip
MOST_CPU_S, MOST_BYTES = 3.0, 300 << 20
KEPT = sorted(path for path in CORPUS.iterdir() if path.suffix in READERS)


def read_cheaply(data: bytes, ending: str) -> list[Capture | ArchiveFlaw]:
    began = process_time()
    tracemalloc.start()
    try:
        found = list(READERS[ending](io.BytesIO(data)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert process_time() - began < MOST_CPU_S and peak < MOST_BYTES
    return found


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_a_kept_archive_is_read_as_far_as_it_goes_and_says_why(path: Path) -> None:
    found = read_cheaply(path.read_bytes(), path.suffix)
    flaws = [item for item in found if isinstance(item, ArchiveFlaw)]
    assert flaws and all(flaw.reason and "\n" not in flaw.reason for flaw in flaws)
    before = [item.url for item in found if isinstance(item, Capture)]
    assert before[:1] == [SAMPLES[0].url] or path.stem.startswith(("overlap", "bomb-in-a-zip"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_head_of_ten_megabytes(pack: Callable[[bytes], bytes]) -> None:
    """It is random, so that it is no bomb, too."""
    import random

    head = b"WARC/1.1\r\nX: " + random.Random(1).randbytes(10_000_000).replace(b"\n", b"")
    [flaw] = read_cheaply(pack(head + b"\r\n\r\n"), ".gz")
    assert isinstance(flaw, ArchiveFlaw) and "longer than" in flaw.reason


@pytest.mark.parametrize("count", [20_000, *proved(1_000_000)])
def test_tiny_records_without_number(count: int) -> None:
    tiny = gzip.compress(b"WARC/1.1\r\nWARC-Type: metadata\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    began = process_time()
    assert not list(read_warc(io.BytesIO(tiny * count)))
    assert process_time() - began < MOST_CPU_S * max(1, count / 20_000)


def written(write: Callable[..., object], *when: float) -> bytes:
    out = io.BytesIO()
    write(SAMPLES, out, *when)
    return out.getvalue()


WHOLE = {
    ".gz": written(write_warc, MADE_AT),
    ".wacz": written(write_wacz, MADE_AT),
    ".jsonl": written(write_json_lines),
    ".spf": written(write_spf, MADE_AT),
}


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(WHOLE)), st.floats(0, 1), st.binary(max_size=40), st.integers(0, 200))
def test_any_bent_archive_is_read_or_named(ending: str, where: float, bytes_there: bytes, gone: int) -> None:
    data = WHOLE[ending]
    at = int(where * len(data))
    for item in READERS[ending](io.BytesIO(data[:at] + bytes_there + data[at + gone :])):
        assert isinstance(item, Capture) or item.reason
