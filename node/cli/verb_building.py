"""Adds verbs and their usual options to the parser of the command line.

Nothing that a verb needs is imported here, so that help and a wrong option are answered at once.
"""

import argparse
import difflib
import re
from collections.abc import Callable
from typing import NoReturn, TypeAlias

_CHOICE = re.compile(r"argument VERB: invalid choice: '(.*?)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """Reads verbs and options; names the verb that was probably meant, where there is none of that name."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong, and end with code 2."""
        if found := _CHOICE.fullmatch(message):
            typed, verbs = found[1], [name.strip("'") for name in found[2].split(", ")]
            near = difflib.get_close_matches(typed, verbs, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"`{self.prog} --help` lists all"
            message = f"{typed!r} is not a command; {remedy}"
            if typed and self.prog.count(" ") == 0 and not near:
                message += "; options come after the command, as in: dse-node status --data-dir DIR"
        super().error(message)


Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_verb(verbs: Verbs, name: str, target: str, about: str, example: str = "") -> Parser:
    """Add a verb. `target`: the function that does it, as module:function; `example`: shown below its help."""
    shown = f"example: {example}" if example else None
    verb = verbs.add_parser(name, help=about, description=about, epilog=shown)
    verb.set_defaults(verb=target, parser=verb)
    return verb


def add_family(verbs: Verbs, name: str, about: str) -> Verbs:
    """Add a verb that has verbs of its own; alone it prints its help."""
    family = verbs.add_parser(name, help=about, description=about)
    family.set_defaults(parser=family)
    return family.add_subparsers(metavar="VERB", title="verbs")


def add_place(verb: Parser, *, url: bool = False, json: bool = False) -> None:
    """Add the options that say which node is meant, and --json."""
    verb.add_argument("--data-dir", metavar="DIR", help="the node's directory (default: see `dse-node paths`)")
    verb.add_argument("--config", metavar="FILE", help="its configuration (default: config.toml in that directory)")
    if url:
        verb.add_argument("--url", metavar="URL", help="address of the node's web page (default: as configured)")
    if json:
        add_json(verb)


def add_json(verb: Parser) -> None:
    """Add the option --json."""
    verb.add_argument("--json", action="store_true", help="print JSON for programs")


def add_repeatable(
    verb: Parser,
    option: str,
    metavar: str,
    about: str,
    *,
    dest: str | None = None,
    type: Callable[[str], object] = str,
    required: bool = False,
) -> None:
    """Add an option that may be given several times."""
    dest, about = dest or option.strip("-").replace("-", "_"), f"{about}; repeatable"
    verb.add_argument(
        option, dest=dest, action="append", default=[], type=type, required=required, metavar=metavar, help=about
    )
