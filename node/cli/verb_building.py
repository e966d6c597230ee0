"""Adds verbs and their usual options to the parser of the command line.

Nothing that a verb needs is imported here, so that help and a wrong option are answered at once.
"""

import argparse
from collections.abc import Callable

from node.cli.help_format import VerbFormatter
from node.cli.verb_parser import VerbParser

TYPE_CHECKING = False  # as in `typing`, which takes a tenth of the time of `--help` to load
if TYPE_CHECKING:
    from typing import TypeAlias

    Verbs: TypeAlias = "argparse._SubParsersAction[VerbParser]"


def add_verb(verbs: "Verbs", name: str, target: str, about: str, example: str = "") -> VerbParser:
    """Add a verb. `target`: the function that does it, as module:function; `example`: shown below its help."""
    shown = f"example: {example}" if example else None
    verb = verbs.add_parser(name, help=about, description=about, epilog=shown, formatter_class=VerbFormatter)
    verb.set_defaults(verb=target)
    return verb


def add_family(verbs: "Verbs", name: str, about: str) -> "Verbs":
    """Add a verb that has verbs of its own; alone it prints its help."""
    family = verbs.add_parser(name, help=about, description=about, formatter_class=VerbFormatter)
    family.set_defaults(parser=family)
    return family.add_subparsers(metavar="VERB", title="verbs", parser_class=VerbParser)


def add_place(verb: VerbParser, *, url: bool = False, json: bool = False) -> None:
    """Add the options that say which node is meant, and --json."""
    verb.add_argument("--data-dir", metavar="DIR", help="the node's directory (default: this system's own place)")
    verb.add_argument("--config", metavar="FILE", help="its configuration (default: config.toml in that directory)")
    if url:
        verb.add_argument("--url", metavar="URL", help="its web listener (default: as configured)")
    if json:
        add_json(verb)


def add_json(verb: VerbParser) -> None:
    """Add the option --json."""
    verb.add_argument("--json", action="store_true", help="print JSON for programs")


def add_repeatable(
    verb: VerbParser,
    option: str,
    metavar: str,
    about: str,
    *,
    dest: str | None = None,
    type: Callable[[str], object] | None = None,
    required: bool = False,
) -> None:
    """Add an option that may be given several times."""
    dest, about = dest or option.strip("-").replace("-", "_"), f"{about}; repeatable"
    verb.add_argument(
        option, dest=dest, action="append", default=[], type=type, required=required, metavar=metavar, help=about
    )
