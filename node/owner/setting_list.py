"""Lists all settings of a node with where each comes from, so that its owner sees what is in force and why.

Pure: a configuration and the text of its file in, rows out. A value that may hold a secret is not shown.
"""

import tomllib
from dataclasses import dataclass
from typing import Any, Literal

from node.config.settings import Config
from node.config.toml_reader import keys_of, parse_config, value_of
from node.errors import ConfigError
from node.owner.setting_change import is_open
from node.views.safe_text import plain

Origin = Literal["default", "file", "start"]

SECRETS = ("hook.", "traces.url")  # a command's words and an address may hold passwords
VALUE_CHARS = 8192  # as much as may be typed, so that what a form shows is whole


@dataclass(frozen=True, slots=True)
class SettingRow:
    """Says what a setting is and where that comes from: its default, the file, or what the start made of both. `value`
    is None where it is set and may be a secret. `waiting` is the file's value where the next start will take over
    another one than is in force, else None. `is_open`: whether it may be changed in a browser."""

    key: str
    value: str | None
    origin: Origin
    waiting: str | None = None
    is_open: bool = False


def setting_rows(config: Config, text: str) -> tuple[SettingRow, ...]:
    """Return a row for each setting, in the order of the file. `text`: the file as it is by now."""
    defaults, set_keys, file = Config(), keys_set(text), _read(text)
    rows = list[SettingRow]()
    for key in keys_of(Config):
        value, default = value_of(config, key), value_of(defaults, key)
        origin: Origin = "file" if key in set_keys else "default" if value == default else "start"
        is_secret = key.startswith(SECRETS)
        waits = key in set_keys and not is_secret and file is not None and value_of(file, key) != value
        waiting = _shown(value_of(file, key)) if waits and file is not None else None
        rows.append(
            SettingRow(key, None if is_secret and value != default else _shown(value), origin, waiting, is_open(key))
        )
    return tuple(rows)


def keys_set(text: str) -> frozenset[str]:
    """Return the settings that a config.toml sets; none where it is no TOML any more."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(f"{table}.{key}" for table, branch in data.items() if isinstance(branch, dict) for key in branch)


def _read(text: str) -> Config | None:
    try:
        return parse_config(text, "config.toml", Config)
    except ConfigError:
        return None


def _shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return plain(", ".join(map(str, value)), VALUE_CHARS)
    if isinstance(value, bool):
        return str(value).lower()  # as the file has it
    return plain(f"{value:.10g}" if isinstance(value, float) else value, VALUE_CHARS)
