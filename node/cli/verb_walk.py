"""Walks the parsers of the command line, for what is written from the same source as `--help`.

Pure: a parser in, its parts out.
"""

import argparse
from collections.abc import Iterator


def parsers_below(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser of each verb below a parser, a family before its members, in the order of the help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield verb
                yield from parsers_below(verb)


def arguments_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return what a verb itself takes, positional arguments first, without its verbs and without --help."""
    left_out = (argparse._SubParsersAction, argparse._HelpAction)
    own = [action for action in parser._actions if not isinstance(action, left_out)]
    return sorted(own, key=lambda action: bool(action.option_strings))
