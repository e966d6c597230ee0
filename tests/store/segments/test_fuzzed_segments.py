"""Segments with every form of a frame are bent. An index that is built from them leads to records as they were written,
or to none. Nothing raises, and records written later are kept."""

import asyncio
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dht import Identity, encode_grant
from store import Draft, Kind, MemoryDisk, Record
from store.errors import StoreCorrupt
from store.record.package import encode_head, pack
from store.record.zstd import Dictionary, train
from store.segments.frame import HEADER, Frame, FrameType, framed
from store.segments.record_group import encode_group
from store.segments.segments import Segments
from tests.kept_corpus import REMEDY, kept_bad, kept_examples
from tests.store.support import draft, grant, open_store, records

NAME = "segment-00000001"
TEXT = " ".join(f"word{n * 7919 % 1000}" for n in range(400))
HEAD, CONTENT, BY_DICTIONARY, JOINED = 1, 2, 4, 8  # flags of a frame
FORMS = {
    "a record": (FrameType.RECORD, 0),
    "a record whose content is squeezed": (FrameType.RECORD, CONTENT),
    "a squeezed record": (FrameType.RECORD, HEAD | CONTENT),
    "a record in one part": (FrameType.RECORD, BY_DICTIONARY | JOINED | HEAD),
    "a large record by a dictionary": (FrameType.RECORD, BY_DICTIONARY | HEAD | CONTENT),
    "a dropped range": (FrameType.DROP, 0),
    "a group": (FrameType.GROUP, HEAD),
    "a group by a dictionary": (FrameType.GROUP, BY_DICTIONARY | HEAD),
    "a part of a package": (FrameType.PACKAGE, HEAD),
    "grants": (FrameType.GRANTS, 0),
    "squeezed grants": (FrameType.GRANTS, HEAD),
    "a dictionary": (FrameType.DICTIONARY, CONTENT),
}


def long_draft(number: int, size: int) -> Draft:
    """A page with much text."""
    base = draft(number, size=size)
    fields = msgspec.msgpack.decode(base.body)
    return replace(base, body=msgspec.msgpack.encode([*fields[:9], TEXT, *fields[10:]]))


VISITS = records(*(draft(n, kind=Kind.VISIT) for n in range(20, 30)))
PAGES = records(draft(1, size=40), draft(2, size=900), long_draft(3, 900), long_draft(4, 300_000), draft(5))
WRITTEN = [*PAGES, *VISITS]
VOTERS = [Identity(bytes([n]) * 32) for n in range(1, 4)]


def made(*, is_packed: bool, together: int = 0) -> bytes:
    """A segment of all that, packed by a dictionary or plain; so many pages lie in a part of a package."""
    disk = MemoryDisk()
    segments = Segments(disk, 1 << 20, 3)
    if is_packed:
        segments.offer(Dictionary(train([(TEXT[n:] + TEXT[:n]).encode() for n in range(0, 3000, 40)], 1024)))
    grants = [encode_grant(grant(draft(n), *VOTERS)) for n in range(4)]
    frames = [
        *([segments.packed(pack(PAGES[:together]))] if together else []),
        *(segments.encode(FrameType.RECORD, encode_head(page), page.content or b"") for page in PAGES[together:-1]),
        segments.encode(FrameType.GRANTS, msgspec.msgpack.encode(grants), b""),
        segments.encode(FrameType.GRANTS, msgspec.msgpack.encode(grants[:1]), b""),
        segments.encode(FrameType.DROP, msgspec.msgpack.encode((b"\xff" * 20, b"\xff" * 20, 20_000)), b""),
        segments.encode(FrameType.GROUP, encode_group(VISITS), b""),
        segments.encode(FrameType.RECORD, encode_head(PAGES[-1]), PAGES[-1].content or b""),
    ]
    segments.append(frames)
    return disk.read(NAME, 0, 1 << 20)


MADE = {
    "plain": made(is_packed=False),
    "packed": made(is_packed=True),
    "with a part": made(is_packed=False, together=3),
}
KEPT = kept_examples("segments")
SEEDS = [*MADE.values(), *KEPT.values()]
many = settings(max_examples=70, deadline=None, derandomize=True)


def disk_with(segment: bytes) -> MemoryDisk:
    disk = MemoryDisk()
    disk.append(NAME, segment)
    disk.sync(NAME)
    return disk


def frames(segment: bytes) -> list[Frame]:
    return list(Segments(disk_with(segment), 0, 0).frames(1))


def flags(segment: bytes, frame: Frame) -> int:
    return int(HEADER.unpack_from(segment, frame.place.offset)[4]) & 0xFF


def found(segment: bytes, *, is_miswritten: bool = False) -> list[bool]:
    """Which of what was written an index leads to that is built from these bytes; what comes then is kept in any
    case. Of a frame that is `is_miswritten` the record may say anything, or be StoreCorrupt."""

    async def story() -> list[bool]:
        store = open_store(disk_with(segment))
        there: list[Record | None] = []
        for each in WRITTEN:
            with suppress(*[StoreCorrupt] * is_miswritten):
                there.append(store.find(each.kind, each.id))
        assert is_miswritten or all(f is None or f == each for f, each in zip(there, WRITTEN, strict=True))
        [later] = records(draft(99))
        await store.put([later])
        assert store.find(later.kind, later.id) == later
        store.close()
        return [f is not None for f in there]

    return asyncio.run(story())


def test_every_form_of_a_frame_is_kept() -> None:
    """A new type of frame, or a new flag, wants an example here: put it into `made` and FORMS."""
    kept = {(frame.type, flags(data, frame)) for data in KEPT.values() for frame in frames(data)}
    assert [form for form, flags in FORMS.items() if flags not in kept] == [], REMEDY
    assert {type for type, _ in FORMS.values()} == set(FrameType)
    written = {(frame.type, flags(data, frame)) for data in MADE.values() for frame in frames(data)}
    assert written <= set(FORMS.values())


@pytest.mark.parametrize("name", KEPT)
def test_a_kept_segment_is_read_whole(name: str) -> None:
    assert all(found(KEPT[name]))


@pytest.mark.parametrize("name", kept_bad("segments"))
def test_of_a_kept_bad_segment_the_sound_frames_are_read(name: str) -> None:
    """All but what its damage took: at most a frame, or what one dictionary packed."""
    there = found(kept_bad("segments")[name])
    assert sum(there) >= len(WRITTEN) - len(VISITS) if "dictionaries" not in name else not any(there)


@many
@given(st.sampled_from(SEEDS), st.data())
def test_a_bent_segment_leads_to_what_was_written_or_to_nothing(segment: bytes, draw: st.DataObject) -> None:
    bent = bytearray(segment)
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, len(bent) - 1))
        bent[at : at + draw.draw(st.integers(0, 40))] = draw.draw(st.binary(max_size=40))
    found(bytes(bent))


@many
@given(st.sampled_from(SEEDS), st.data())
def test_a_frame_that_was_written_wrong_under_a_right_checksum_stops_nobody(
    segment: bytes, draw: st.DataObject
) -> None:
    frame = draw.draw(st.sampled_from(frames(segment)))
    begin, end = frame.place.offset, frame.place.end
    head = bytearray(segment[begin + HEADER.size : begin + frame.place.head_bytes])
    content = bytearray(segment[begin + frame.place.head_bytes : end])
    for part in (head, content):
        for _ in range(draw.draw(st.integers(0, 3)) if part else 0):
            part[draw.draw(st.integers(0, len(part) - 1))] ^= draw.draw(st.integers(1, 255))
    written, _ = framed(frame.type << 8 | flags(segment, frame), bytes(head), bytes(content))
    found(segment[:begin] + written + segment[end:], is_miswritten=True)
