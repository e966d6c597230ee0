"""A node backs itself up when that is due, keeps the newest backups, and says so where it cannot."""

import asyncio
from pathlib import Path

import pytest

from dht import FaultSite, Identity, LocalFaults
from node.backup.node_backup import restore
from node.backup.scheduled_backups import DAY_S, ScheduledBackups
from node.config.data_dir import DataDir
from node.config.settings import BackupConfig
from store import RecordStore
from tests.dht.overlay.test_service import until
from tests.store.support import CONFIG, StillClock, draft, records

WORDS = "correct horse battery staple"


@pytest.fixture
def node(tmp_path: Path) -> DataDir:
    data = DataDir(tmp_path / "node")
    data.create()
    Identity.generate().save(data.identity)
    store = RecordStore.open(data.store, CONFIG, StillClock())
    asyncio.run(store.put(records(*(draft(n) for n in range(5)))))
    store.close()
    return data


def test_the_newest_backups_stay_and_can_be_restored(node: DataDir, tmp_path: Path) -> None:
    folder, words = tmp_path / "disk", tmp_path / "words"
    folder.mkdir()
    words.write_text(WORDS + "\n")
    (folder / "0123456789ab-20260101-000000.dse").write_text("another node's")
    clock = StillClock()
    config = BackupConfig(str(folder), every_days=1.0, keep=2, passphrase_file=str(words))
    backups = ScheduledBackups(node, config, clock, LocalFaults(clock))
    for _ in range(4):
        clock.wall += DAY_S
        backups.make()
    assert len(backups.kept()) == 2 and len(list(folder.iterdir())) == 3
    with backups.kept()[-1].open("rb") as file:
        done = restore(file, tmp_path / "new", "it", WORDS)
    assert done.is_same and done.manifest.made_at == int(clock.wall)


def test_a_backup_is_due_once_the_newest_is_old_enough(node: DataDir, tmp_path: Path) -> None:
    clock = StillClock()
    backups = ScheduledBackups(node, BackupConfig(str(tmp_path), every_days=1.0), clock, LocalFaults(clock))
    assert backups.is_due()
    backups.make()
    clock.wall += DAY_S - 1.0
    assert not backups.is_due()
    clock.wall += 1.0
    assert backups.is_due()


@pytest.mark.parametrize("missing", ["unplugged", "words"])
async def test_a_file_that_is_not_there_is_a_fault_of_the_machine_with_a_remedy(
    node: DataDir, tmp_path: Path, missing: str
) -> None:
    clock = StillClock()
    faults = LocalFaults(clock)
    folder = tmp_path / missing if missing == "unplugged" else tmp_path
    backups = ScheduledBackups(node, BackupConfig(str(folder), passphrase_file=str(tmp_path / "words")), clock, faults)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(backups.run())
        await until(lambda: bool(faults.present()), 5.0)
        (fault,) = faults.present()
        task.cancel()
    assert fault.site == FaultSite.BACKUP and f"{missing}: no such file" in fault.cause and fault.remedy
    assert not (tmp_path / "unplugged").exists(), "the disk under it would fill up"
