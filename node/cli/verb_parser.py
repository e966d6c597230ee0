"""Parses one verb of the command line, and puts off all that this takes until the verb is asked for.

Most calls ask for one verb of fifty, and `--help` for the names of all: what each takes costs more time than the rest.
"""

import argparse

TYPE_CHECKING = False  # as in `typing`, which takes a tenth of the time of `--help` to load
if TYPE_CHECKING:
    from typing import Any


class VerbParser(argparse.ArgumentParser):
    """Is what argparse makes of the same calls; they are made when anything else is wanted of it."""

    def __init__(self, **about: "Any") -> None:
        self.__dict__["_put_off"] = [(super().__init__, (), about)]

    def add_argument(self, *names: "Any", **about: "Any") -> "Any":
        """Take an argument, later."""
        return self._later(super().add_argument, names, about)

    def set_defaults(self, **values: "Any") -> None:
        """Take values for what is not given, later."""
        self._later(super().set_defaults, (), values)

    def _later(self, method: "Any", names: "Any", about: "Any") -> "Any":
        if (put_off := self.__dict__.get("_put_off")) is None:
            return method(*names, **about)
        return put_off.append((method, names, about))

    def __getattr__(self, name: str) -> "Any":
        """Make the calls that were put off: something that they set is wanted."""
        if "_put_off" not in self.__dict__:
            raise AttributeError(f"a parser has no {name!r}")
        for method, names, about in self.__dict__.pop("_put_off"):
            method(*names, **about)
        return getattr(self, name)
