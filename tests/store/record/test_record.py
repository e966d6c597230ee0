"""A short version orders as the version does, and two that look alike are one."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from store import MemoryDisk, RecordStore, Version
from tests.store.support import CONFIG, StillClock, draft, records

versions = st.builds(Version, st.integers(0, 2), st.integers(0, 2), st.binary(min_size=32, max_size=32))


@given(versions, versions)
def test_short_versions_order_as_versions_do(a: Version, b: Version) -> None:
    if a.short != b.short:
        assert (a < b) == (a.short < b.short)
    else:
        assert a[:2] == b[:2] and a.digest[:8] == b.digest[:8]


async def test_of_two_versions_that_look_alike_the_first_stays() -> None:
    store = RecordStore(MemoryDisk(), CONFIG, StillClock())
    (first,) = records(draft(1))
    alike = replace(first, version=first.version._replace(digest=first.version.digest[:8] + b"\xff" * 24))
    later = replace(first, version=first.version._replace(digest=b"\xff" * 32))
    assert [await store.put([r]) for r in (first, alike, later, first)] == [1, 0, 1, 0]
    assert store.find(first.kind, first.id) == later
    store.close()
