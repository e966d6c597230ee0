"""Changes one setting of a config.toml as its owner typed it, and refuses what the next start would refuse.

Pure: texts in, texts and a configuration out.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from node.config.first_answers import amount_of
from node.config.settings import Config
from node.config.toml_reader import keys_of, parse_config, value_of
from node.config.toml_writer import explain_keys, set_key, toml_value, write_config
from node.errors import ConfigError

_FILE = "config.toml"
BY_HAND = f"set it in {_FILE}"
# Of other settings, a wrong address or port would shut the owner out, and a hook runs programs.
_OPEN = ("crawl.", "store.", "index.", "web_report.")
_OPEN_TOO = ("node.log_level", "dht.operator")
MAX_TYPED_CHARS = 8192


@dataclass(frozen=True, slots=True)
class SettingAbout:
    """Explains a setting that may be changed: its default as TOML, and what it is for."""

    key: str
    default: str
    why: str


def is_open(key: str) -> bool:
    """Tell whether a setting may be changed in a browser."""
    return key.startswith(_OPEN) or key in _OPEN_TOO


def setting_about(key: str) -> SettingAbout | None:
    """Explain a setting; None where there is none of this name that may be changed in a browser."""
    return _explained().get(key) if is_open(key) else None


@cache  # it reads the source of all classes of the configuration: a tenth of a second
def _explained() -> Mapping[str, SettingAbout]:
    return {each[0]: SettingAbout(*each) for each in explain_keys(Config)}


def changed(text: str, key: str, typed: str, *, anything: bool = False) -> tuple[str, Config]:
    """Return the text of a config.toml with a setting as it was typed, and what that configures. "" of `text` is a file
    that is not there. `anything`: also what a browser may not change. Raises ConfigError where a setting takes no such
    value, or where the file has it in a form that only its owner can change."""
    if key not in keys_of(Config):
        raise ConfigError(key[:80], "is no setting", "`dse-node config get` lists all")
    if not (anything or is_open(key)):
        raise ConfigError(key[:80], "cannot be changed here", f"run `dse-node config set {key} VALUE` on its machine")
    before = parse_config(text, _FILE, Config)
    value = _value(key, typed)
    written = set_key(text or write_config(Config, {}), key, value)
    after = parse_config(written, _FILE, Config)
    touched = {name for name in keys_of(Config) if value_of(before, name) != value_of(after, name)}
    if touched - {key} or tomllib.loads(written)[key.partition(".")[0]][key.partition(".")[2]] != value:
        raise ConfigError(key, "stands in the file in a form that cannot be changed here", BY_HAND)
    return written, after


def _value(key: str, typed: str) -> object:
    """Read what was typed: texts as they are, lists as TOML has them or by blanks, bytes with a unit such as GB, all
    else as TOML has it."""
    default, typed = value_of(Config(), key), typed.strip()
    if len(typed) > MAX_TYPED_CHARS or not typed.replace("\n", "").replace("\r", "").isprintable():
        raise ConfigError(key, f"longer than {MAX_TYPED_CHARS} characters, or with some that no line has", BY_HAND)
    if isinstance(default, str):
        return typed
    if key.endswith(("_bytes", "_bytes_s")) and (amount := amount_of(typed)) is not None:
        return amount
    try:
        (value,) = tomllib.loads(f"value = {typed}").values()
    except ValueError:
        value = None
    if isinstance(default, tuple) and not isinstance(value, list):
        return [word for word in re.split(r",?\s+", typed) if word]
    if value is None:
        raise ConfigError(key, f"takes a value such as {toml_value(default)}, not {typed[:80]!r}")
    return value
