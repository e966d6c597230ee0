"""Reads TOML into a tree of frozen values, strictly, and says in one line what is wrong with it.

Pure: text in, values out. Works for any tree whose branches are dataclasses or msgspec Structs with defaults. A branch
may refuse a value by raising ValueError from `__post_init__`; its text begins with the field's name.
"""

import dataclasses
import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from node.errors import ConfigError

Tree = TypeVar("Tree")

_OWN = re.compile(r"[a-z0-9_]+: ")
_PATH = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_KINDS = re.compile(r"expected (\w+), got (\w+)")
_KIND_WORDS = {  # of msgspec's names
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "list": "a list",
    "table": "a table",
    "null": "nothing",
}


def parse_config(text: str, source: str, tree: type[Tree]) -> Tree:
    """Read a TOML text as a `tree`; what it does not set keeps its default.

    Raises ConfigError naming `source` (a file) and the line, key, type or value at fault.
    """
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers and nesting have no bounds in TOML, but in Python
        raise ConfigError(source, f"this is not TOML: {error}", "strings need quotes, tables [brackets]") from None
    known = sorted([*keys_of(tree), *(name for name, branch in _branches(tree).items() if branch is not None)])
    for key in _unknown_keys(data, tree, ""):
        raise ConfigError(source, f"unknown key {key}", _advice(key, known))
    try:
        return msgspec.convert(data, tree)
    except msgspec.ValidationError as error:
        flaw = plain_flaw(str(error))
        choices = _choices(tree, flaw.partition(":")[0])
        remedy = f"it takes {' or '.join(choices)}" if choices else _example(tree, flaw.partition(":")[0])
        raise ConfigError(source, flaw, remedy) from None


def keys_of(tree: type[Any], prefix: str = "") -> Iterator[str]:
    """Yield the path of every key of the tree: node.web_port, crawl.min_delay_s…"""
    for name, branch in _branches(tree).items():
        if branch is None:
            yield prefix + name
        else:
            yield from keys_of(branch, f"{prefix}{name}.")


def value_of(tree: object, path: str) -> Any:
    """Return the value at the path of a key."""
    return reduce(getattr, path.split("."), tree)


def changes_of(tree: object) -> dict[str, Any]:
    """Return all values that differ from their defaults, by their paths."""
    defaults = type(tree)()
    values = {path: value_of(tree, path) for path in keys_of(type(tree))}
    return {path: value for path, value in values.items() if value != value_of(defaults, path)}


def defaults_of(branch: type[Any]) -> dict[str, Any]:
    """Return the fields of a branch (a dataclass or a msgspec Struct) with their defaults, which all must have."""
    values = branch()
    return {name: getattr(values, name) for name in _names(branch)}


def _names(branch: type[Any]) -> tuple[str, ...]:
    if dataclasses.is_dataclass(branch):
        return tuple(field.name for field in dataclasses.fields(branch))
    names: tuple[str, ...] = branch.__struct_fields__
    return names


def _branches(tree: type[Any]) -> dict[str, type[Any] | None]:
    """Map each field of a tree to its class where it is a branch, to None where it is a leaf."""
    hints = get_type_hints(tree)
    return {name: hints[name] if _is_branch(hints[name]) else None for name in _names(tree)}


def _is_branch(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint) or (isinstance(hint, type) and issubclass(hint, msgspec.Struct))


def _choices(tree: type[Any], path: str) -> list[str]:
    """List the values that a key takes where those are few: crawl.revisit, or crawl.families[0]; else none."""
    *tables, leaf = path.partition("[")[0].split(".")
    branch: type[Any] | None = tree
    for name in tables:
        branch = _branches(branch).get(name) if branch is not None else None
    hint = get_type_hints(branch).get(leaf) if branch is not None else None
    literals = [each for each in (hint, *get_args(hint)) if get_origin(each) is Literal]
    return [repr(value).replace("'", '"') for each in literals for value in get_args(each)]


def _unknown_keys(data: Mapping[str, Any], tree: type[Any], prefix: str) -> Iterator[str]:
    branches = _branches(tree)
    for name, value in data.items():
        if name not in branches:
            yield prefix + name
            continue
        branch = branches[name]
        if branch is not None and isinstance(value, dict):
            yield from _unknown_keys(value, branch, f"{prefix}{name}.")


def _advice(key: str, known: list[str]) -> str:
    """Name the keys probably meant: the same leaf in another table, else a similar name or one that shares a word."""
    leaf = key.rpartition(".")[2]
    near = [other for other in known if other.rpartition(".")[2] == leaf]
    near = near or difflib.get_close_matches(key, known, n=1, cutoff=0.85)  # a slip of the pen
    near = near or [*difflib.get_close_matches(key, known, n=1, cutoff=0.7), *_same_words(key, known)]
    if near:
        return f"did you mean {' or '.join(list(dict.fromkeys(near))[:3])}?"
    return "`dse-node paths --keys` lists every key"


def _same_words(key: str, known: list[str]) -> list[str]:
    """List the keys of the same table that share a word with this one, likest first: host_delay → min_delay_s."""
    table, _, leaf = key.rpartition(".")
    words = {word for word in leaf.split("_") if len(word) > 2}
    shared = [k for k in known if k.rpartition(".")[0] == table and words & set(k.rpartition(".")[2].split("_"))]
    return sorted(shared, key=lambda k: -difflib.SequenceMatcher(None, key, k).ratio())


def _example(tree: type[Any], path: str) -> str:
    """Name the default of a key, as TOML has it, to show what it takes."""
    if path not in keys_of(tree) or not (default := value_of(tree(), path)):
        return "`dse-node paths --keys` says what each key takes"
    return f"write a value such as {json.dumps(default)}"


def body_flaw(message: str, kind: type[Any]) -> str:
    """Turn msgspec's refusal of a JSON body into plain words, with what a field takes, or with the body's fields."""
    flaw = plain_flaw(message).replace("a table", "an object")
    takes = _choices(kind, flaw.partition(":")[0]) if " - at `$" in message else _names(kind)
    return f"{flaw}; it takes {', '.join(takes)}" if takes else flaw


def plain_flaw(message: str) -> str:
    """Turn msgspec's `Expected \\`int\\`, got \\`str\\` - at \\`$.node.web_port\\`` into: key, plain words."""
    match = _PATH.match(message)
    what, path = (match["what"], match["path"]) if match else (message, None)
    what = what.replace("`", "").replace("object", "table").replace("array", "list").strip()
    what = what if what.startswith("JSON") else what[:1].lower() + what[1:]
    if kinds := _KINDS.fullmatch(what):
        what = f"takes {_KIND_WORDS.get(kinds[1], kinds[1])}, not {_KIND_WORDS.get(kinds[2], kinds[2])}"
    if path and _OWN.match(what):  # a branch's own refusal, which begins with the field's name
        return f"{path}.{what}"
    return f"{path}: {what}" if path else what
