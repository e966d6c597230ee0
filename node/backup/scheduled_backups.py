"""Backs a running node up every so many days, and keeps the newest backups of it in a folder."""

import asyncio
import os
import re
from calendar import timegm
from pathlib import Path
from time import gmtime, strftime, strptime

from dht import Clock, DseError, FaultSite, Identity, LocalFaults, MachineRefuses, refusal_of
from node.backup.backup_file import Manifest
from node.backup.node_backup import back_up
from node.config.data_dir import DataDir
from node.config.settings import BackupConfig

LOOK_S = 600.0  # between two looks at whether a backup is due, and after one that failed
DAY_S = 86_400.0
STAMP = "%Y%m%d-%H%M%S"  # of a name
REMEDY = "mend that, or change [backup] in config.toml; the next try is in ten minutes"


class ScheduledBackups:
    """Makes backups as `config` says, in a thread, one at a time."""

    def __init__(self, data: DataDir, config: BackupConfig, clock: Clock, faults: LocalFaults) -> None:
        self._data, self._config, self._clock, self._faults = data, config, clock, faults

    async def run(self) -> None:
        """Back up whenever that is due, until cancelled."""
        while True:
            try:
                if self.is_due():
                    await asyncio.to_thread(self.make)
                self._faults.end(FaultSite.BACKUP)
            except (OSError, DseError, UnicodeDecodeError) as error:
                path = getattr(error, "filename", None) or self._config.folder
                self._faults.begin(
                    FaultSite.BACKUP, refusal_of(path, error) or MachineRefuses(path, str(error), REMEDY)
                )
            await asyncio.sleep(LOOK_S)

    def is_due(self) -> bool:
        """Tell whether the newest backup is so many days old. Raises OSError where the folder is not there."""
        newest = [timegm(strptime(path.stem.partition("-")[2], STAMP)) for path in self.kept()[-1:]]
        return not newest or self._clock().wall >= newest[0] + self._config.every_days * DAY_S

    def kept(self) -> list[Path]:
        """Return this node's backups in the folder, the oldest first."""
        name = re.compile(rf"{_prefix(self._data)}-[0-9]{{8}}-[0-9]{{6}}\.dse")
        return sorted(path for path in Path(self._config.folder).iterdir() if name.fullmatch(path.name))

    def make(self) -> Manifest:
        """Make a backup, and delete the oldest ones beyond `keep`."""
        config, now = self._config, int(self._clock().wall)
        words = Path(config.passphrase_file).read_text().rstrip("\n") if config.passphrase_file else None
        done = write_backup(self._data, Path(config.folder) / backup_name(self._data, now), now, words)
        for path in self.kept()[: -config.keep]:
            path.unlink()
        return done


def backup_name(data: DataDir, made_at: int) -> str:
    """Return the name of a backup that is made at an instant, Unix seconds."""
    return f"{_prefix(data)}-{strftime(STAMP, gmtime(made_at))}.dse"


def write_backup(data: DataDir, target: Path, made_at: int, pass_phrase: str | None) -> Manifest:
    """Write a backup to a file, which is there once it is whole. Raises what `back_up` raises."""
    draft = target.with_name(target.name + ".part")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            manifest = back_up(data, file, made_at, pass_phrase)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    return manifest


def _prefix(data: DataDir) -> str:
    return Identity.load(data.identity).node_id.hex()[:12]
