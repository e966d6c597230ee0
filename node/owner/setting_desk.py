"""Keeps the settings of a running node in step with its file: shows them, and writes what the owner changes there."""

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from dht import refused, write_atomically
from node.app.node_core import LIVE_SETTINGS
from node.config.settings import Config
from node.config.toml_reader import value_of
from node.errors import ConfigError
from node.owner.setting_change import changed
from node.owner.setting_list import SettingRow, setting_rows

log = logging.getLogger(__name__)

# These change while the node runs; all else is read at its start.
LIVE = (*LIVE_SETTINGS, "node.log_level", "web_report.every_days")


class SettingDesk:
    """Holds the configuration in force, which outlasts files that are opened anew. Blocks while it is made, on one
    small file."""

    def __init__(self, path: Path, config: Config) -> None:
        """`path`: the node's config.toml, there or not."""
        self._path, self.config = path, config
        self.obey: Callable[[Config], None] = lambda _config: None
        """Takes over what may change while the node runs; whoever runs the node sets it."""
        self._rows = setting_rows(config, _read(path))
        self._writing = asyncio.Lock()

    def rows(self) -> Sequence[SettingRow]:
        """Return all settings in force, and what the file says where that is something else."""
        with suppress(OSError, ConfigError):  # a file that cannot be read just now is no news
            self._rows = setting_rows(self.config, _read(self._path))
        return self._rows

    async def set(self, key: str, typed: str) -> bool:
        """Write a setting as it was typed into the file, which keeps all its other lines, and return whether it is in
        force at once. Raises ConfigError and MachineRefuses; then nothing has changed."""
        async with self._writing:
            try:
                text, config = changed(await asyncio.to_thread(_read, self._path), key, typed)
                await asyncio.to_thread(write_atomically, self._path, text.encode())
            except OSError as error:
                raise refused(self._path, error) from error
            if key in LIVE:
                self.config = _with(self.config, key, value_of(config, key))
                self.obey(self.config)
            self._rows = setting_rows(self.config, text)
        is_now = bool(value_of(self.config, key) == value_of(config, key))
        log.info("owner sets key=%s from=%s", key, "now" if is_now else "the next start")
        return is_now


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), f"not UTF-8 at byte {error.start}", "save it as UTF-8") from None


def _with(config: Config, key: str, value: Any) -> Config:
    table, _, name = key.partition(".")
    branch = getattr(config, table)
    replace = msgspec.structs.replace if isinstance(branch, msgspec.Struct) else dataclasses.replace
    return dataclasses.replace(config, **{table: replace(branch, **{name: value})})
