"""Lists all settings of a node with where each comes from, so that its owner sees what is in force and why.

Pure: a configuration and the names that its file sets, in; rows out. What may hold a secret is not shown.
"""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from node.config.settings import Config
from node.config.toml_reader import keys_of
from node.views.safe_text import plain

Origin = Literal["default", "file", "start"]

SECRET_BRANCHES = ("hook.",)  # a command's words and an address may hold passwords
VALUE_CHARS = 200


@dataclass(frozen=True, slots=True)
class SettingRow:
    """Says what a setting is and where that comes from: its default, the file, or what the start made of both. `value`
    is None where it may be a secret and is set."""

    key: str
    value: str | None
    origin: Origin


def setting_rows(config: Config, file_keys: Collection[str]) -> tuple[SettingRow, ...]:
    """Return a row for each setting, in the order of the file. `file_keys`: those that the file sets."""
    defaults = Config()
    rows = list[SettingRow]()
    for key in keys_of(Config):
        value, default = _of(config, key), _of(defaults, key)
        origin: Origin = "file" if key in file_keys else "default" if value == default else "start"
        is_secret = key.startswith(SECRET_BRANCHES) and value != default
        rows.append(SettingRow(key, None if is_secret else _shown(value), origin))
    return tuple(rows)


def keys_set(text: str) -> frozenset[str]:
    """Return the settings that a config.toml sets; none where it is no TOML any more."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(f"{table}.{key}" for table, branch in data.items() if isinstance(branch, dict) for key in branch)


def _of(config: Config, key: str) -> Any:
    branch, _, name = key.partition(".")
    return getattr(getattr(config, branch), name)


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return plain(", ".join(map(str, value)), VALUE_CHARS)
    return plain(f"{value:g}" if isinstance(value, float) else value, VALUE_CHARS)
