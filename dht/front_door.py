"""Opens the front door of a package name by name: a module is imported when the first of its names is asked for.

So a parser process, or a verb that asks a running node, starts without the modules that only nodes need. It takes a
third of the time and of the memory. Each package's `__init__.py` has the table: its modules, each with the names that
it gives to other packages. Type checkers and editors read the same names from the imports under `if TYPE_CHECKING`.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazily(package: str, names_of: Mapping[str, str]) -> Callable[[str], object]:
    """Return the `__getattr__` of a package (PEP 562). `names_of`: by module, its names with spaces between them."""
    homes = {name: module for module, names in names_of.items() for name in names.split()}

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
