"""Opens the front door of a package name by name: a module is imported when the first of its names is asked for.

So a parser process, or a verb that asks a running node, starts without what only nodes need, in a third of the time and
of the memory. Which name lies in which module is what the package's own `__init__.py` imports under `if TYPE_CHECKING`,
where type checkers and editors read it, too.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module


def lazily(package: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a package (PEP 562)."""
    homes = dict[str, str]()

    def find(name: str) -> object:
        if not homes and not name.startswith("__"):
            homes.update(_homes(package))
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return find


def _homes(package: str) -> dict[str, str]:
    """The names that a package shows, each with the module that defines it."""
    loader = sys.modules[package].__loader__
    source = loader.get_source(package)  # type: ignore[union-attr]
    guarded = (each for part in ast.parse(source).body if isinstance(part, ast.If) for each in part.body)
    return {
        alias.name: each.module
        for each in guarded
        if isinstance(each, ast.ImportFrom) and each.module
        for alias in each.names
    }
