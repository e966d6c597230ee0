"""Reads a small file of the data directory that holds what people asked of a node."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from dht import InputError
from node.errors import BadDataDir

Kept = TypeVar("Kept")


def read_kept(path: Path | None, decode: Callable[[bytes], Kept], most_bytes: int, remedy: str) -> Kept | None:
    """Return what a file holds, None where there is no file; raises BadDataDir with the remedy where it is damaged."""
    try:
        if path is None:
            return None
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
        if len(data) > most_bytes:
            raise ValueError(f"is longer than {most_bytes} bytes")
        return decode(data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, InputError) as error:
        raise BadDataDir(str(path), f"cannot be read: {error}", remedy) from None
