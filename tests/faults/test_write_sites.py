"""Every place that writes, under every way in which a machine refuses: what was promised stays, what is refused is
listed with a remedy, and it heals by itself."""

import errno
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import pytest

from dht import LocalFaults, MachineRefuses
from tests.faults.injection import FaultyOs, filled, small_disk
from tests.faults.write_sites import SITES, Debts, Peers, Puzzle, Segments, Strategies, Votes, WriteSite
from tests.store.support import StillClock


@dataclass(frozen=True)
class Kind:
    """One way to refuse: which calls fail, how, and what a write takes before it fails."""

    number: int
    calls: tuple[str, ...]
    first_bytes: int = 0


WRITES = ("write",)
SYNCS = ("fsync", "fdatasync")
KINDS = {
    "full at the write": Kind(errno.ENOSPC, WRITES),
    "full after a byte": Kind(errno.ENOSPC, WRITES, 1),
    "full after a header": Kind(errno.ENOSPC, WRITES, 20),
    "full after most of it": Kind(errno.ENOSPC, WRITES, 2000),
    "full at the sync": Kind(errno.ENOSPC, SYNCS),
    "full when opened": Kind(errno.ENOSPC, ("open to write",)),
    "full, and the tail cannot be cut": Kind(errno.ENOSPC, (*WRITES, "ftruncate"), 700),
    "quota used up": Kind(errno.EDQUOT, WRITES),
    "quota used up after some bytes": Kind(errno.EDQUOT, WRITES, 100),
    "quota used up at the sync": Kind(errno.EDQUOT, SYNCS),
    "file too large": Kind(errno.EFBIG, WRITES, 50),
    "input/output error at the write": Kind(errno.EIO, WRITES),
    "input/output error, torn": Kind(errno.EIO, WRITES, 333),
    "input/output error at the sync": Kind(errno.EIO, SYNCS),
    "input/output error at write, sync and cut": Kind(errno.EIO, (*WRITES, *SYNCS, "ftruncate"), 64),
    "input/output error when opened": Kind(errno.EIO, ("open to write",)),
    "read-only at the write": Kind(errno.EROFS, WRITES),
    "read-only when opened": Kind(errno.EROFS, ("open to write", *WRITES, *SYNCS, "ftruncate", "unlink")),
    "no handles": Kind(errno.EMFILE, ("open",)),
    "no handles on the whole machine": Kind(errno.ENFILE, ("open",)),
    "not allowed": Kind(errno.EACCES, ("open", "unlink")),
    "not permitted": Kind(errno.EPERM, (*WRITES, "open to write")),
    "no memory": Kind(errno.ENOMEM, (*WRITES, "open to write")),
    "no memory at the sync": Kind(errno.ENOMEM, SYNCS),
    "device gone": Kind(errno.ENXIO, ("open", "pread", *WRITES, *SYNCS, "ftruncate")),
    "stale handle of a network disk": Kind(errno.ESTALE, (*WRITES, *SYNCS, "ftruncate")),
    "cannot be renamed": Kind(errno.EACCES, ("replace",)),
    "full at the rename": Kind(errno.ENOSPC, ("replace",)),
    "read-only at the rename": Kind(errno.EROFS, ("replace",)),
    "input/output error at the rename": Kind(errno.EIO, ("replace",)),
}
RENAMES = (Votes, Peers, Strategies, Puzzle)
KEEPS_HANDLES = (Segments,)  # nothing is opened there while it runs
TABLE = [
    pytest.param(site, kind, id=f"{site.__name__}-{name}")
    for site in (Segments, Votes, Peers, Strategies, Puzzle)
    for name, kind in KINDS.items()
    if "replace" not in kind.calls or site in RENAMES
]


@pytest.mark.parametrize(("site", "kind"), TABLE)
async def test_what_is_refused_is_said_and_what_was_promised_stays_also_after_a_crash(
    site: type[WriteSite], kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, machine = StillClock(), FaultyOs(monkeypatch, tmp_path)
    faults = LocalFaults(clock)
    (folder := tmp_path / "node").mkdir()
    place = site(folder, clock, faults)
    promised = {number for number in (0, 1) if await place.write(number)}
    assert promised == {0, 1}
    machine.first_bytes = kind.first_bytes
    with machine.fails(kind.number, *kind.calls):
        promised |= {number for number in (2, 3, 4) if await place.write(number)}
        await place.try_again()
        shown = faults.present()
    crashed = copytree(folder, tmp_path / "crashed")  # as it lies there, without a clean stop
    assert site(crashed, clock, LocalFaults(clock)).found() >= promised
    if machine.failed and len(promised) < 5:
        (fault,) = shown
        assert fault.site == site.site and fault.remedy and fault.what_stops
    else:
        assert site in KEEPS_HANDLES and promised == {0, 1, 2, 3, 4}, "a fault that it does not meet"
    clock.steady += 60
    await place.try_again()
    promised |= {number for number in (5, 6) if await place.write(number)}
    assert promised >= {0, 1, 5, 6}
    clock.steady += 60
    assert faults.present() == ()
    place.close()
    assert site(folder, clock, faults).found() >= promised


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.__name__)
async def test_a_disk_that_is_really_full_and_has_room_again(site: type[WriteSite], tmp_path: Path) -> None:
    clock = StillClock()
    faults = LocalFaults(clock)
    with small_disk(tmp_path / "disk", 4_000_000) as folder:
        place = site(folder, clock, faults)
        promised = {number for number in (0, 1) if await place.write(number)}
        assert promised == {0, 1}
        with filled(folder):
            promised |= {number for number in range(2, 8) if await place.write(number)}
            await place.try_again()
            (fault,) = faults.present()
            assert fault.site == site.site and "free some space" in fault.remedy
        clock.steady += 60
        await place.try_again()
        assert await place.write(8) and await place.write(9)
        clock.steady += 60
        assert faults.present() == ()
        place.close()
        again = site(folder, clock, faults)
        assert again.found() >= promised | {8, 9}
        again.close()


def test_the_table_has_what_was_asked_for() -> None:
    assert len(KINDS) >= 30 and Debts in SITES


@pytest.mark.parametrize("site", [Segments, Votes, Strategies, Puzzle], ids=lambda site: site.__name__)
async def test_a_start_on_a_full_disk_finds_what_was_promised_or_says_what_to_do(
    site: type[WriteSite], tmp_path: Path
) -> None:
    clock = StillClock()
    with small_disk(tmp_path / "disk", 4_000_000) as folder:
        place = site(folder, clock, LocalFaults(clock))
        promised = {number for number in (0, 1, 2) if await place.write(number)}
        place.close()
        with filled(folder):
            try:
                again = site(folder, clock, LocalFaults(clock))
            except MachineRefuses as error:
                assert site is Segments and "free some space" in str(error)
            else:
                assert again.found() >= promised
                again.close()
        assert site(folder, clock, LocalFaults(clock)).found() >= promised == {0, 1, 2}
