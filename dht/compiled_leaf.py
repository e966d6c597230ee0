"""Loads a compiled leaf: C of a room that gives what its Python gives, faster, where it could be built at install.

`hatch_build.py` compiles the folder `leaf` of a room into the module `_leaf` beside it. A leaf that was built
from other sources than those that are here is not used.
"""

from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def load_leaf(room: str) -> tuple[ModuleType | None, str]:
    """Return the leaf of a room such as "index.text", and for the owner what runs."""
    try:
        leaf = import_module(f"{room}._leaf")
    except ImportError:
        return None, "Python (no compiler at install)"
    if (sources := _sources(room)) and sources != leaf.SOURCES:
        return None, "Python (what was compiled is of another release: install again)"
    return leaf, "compiled"


def _sources(room: str) -> str:
    """A digest of the leaf's C; "" where it was installed without."""
    spec = find_spec(room)
    assert spec and spec.origin
    digest, files = sha256(), sorted(Path(spec.origin).with_name("leaf").glob("*.[ch]"))
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest() if files else ""
