"""Opens the front door of a package name by name: a module is imported when the first of its names is asked for.

So a parser process, or a verb that asks a running node, starts without what only nodes need, in a third of the time and
of the memory. Each package's `__init__.py` imports its names under `if TYPE_CHECKING`, for type checkers and editors.
The same imports say here which module has which name, so that each name is written once.
"""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path


def lazily(package: str, source: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a package (PEP 562). `source`: the file whose imports name what it has."""

    @cache
    def homes() -> dict[str, str]:
        imports = (each for each in ast.walk(ast.parse(Path(source).read_bytes())) if isinstance(each, ast.ImportFrom))
        return {name.name: each.module for each in imports if each.module for name in each.names}

    def find(name: str) -> object:
        if name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes()[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
