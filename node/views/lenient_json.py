"""Reads plain data that may lack any field, or hold another type there: what is missing is empty or 0.

Pure: values in, values out. Nodes of other versions answer too, so every view reads through here.
"""

from typing import Any

from node.views.safe_text import plain

Json = dict[str, Any]


def table(parent: Json, key: str) -> Json:
    """Return the object below a key, or an empty one."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def tables(parent: Json, key: str) -> list[Json]:
    """Return the objects in the list below a key."""
    value = parent.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def listed(value: object) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return list(value) if isinstance(value, list | tuple) else []


def texts(parent: Json, key: str, limit: int = 300, most: int = 50) -> list[str]:
    """Return the first `most` items of the list below a key as safe text of at most `limit` characters each."""
    value = parent.get(key)
    return [plain(item, limit) for item in value[:most]] if isinstance(value, list | tuple) else []


def number(parent: Json, key: str) -> float:
    """Return the number below a key, or 0."""
    value = parent.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def count(parent: Json, key: str) -> int:
    """Return the whole number below a key, or 0 where it is none or absurdly large."""
    value = number(parent, key)
    return int(value) if abs(value) < 1e18 else 0
