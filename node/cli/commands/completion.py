"""Does the verb completion: prints what a shell reads to complete verbs, options, choices and names of files.

shtab writes the script from the parsers that `--help` has; it is imported for this verb alone.
"""

from argparse import Action, ArgumentParser, Namespace
from pathlib import Path

import shtab

from node.cli.arguments import build_parser
from node.cli.verb_walk import arguments_of, parsers_below

_FILES = {"FILE", "OUT", "DRAFT", "SIGNED", "A", "B"}  # metavars of arguments that name a file


def completion(arguments: Namespace) -> int:
    """Print the completion script for one shell."""
    print(script_for(arguments.shell, build_parser()))
    return 0


def script_for(shell: str, parser: ArgumentParser) -> str:
    """Return the script by which a shell (bash, zsh, fish) completes a command line of the parser."""
    for each in (parser, *parsers_below(parser)):
        for argument in arguments_of(each):
            if paths := _paths(argument):
                argument.complete = paths  # type: ignore[attr-defined]  # where shtab looks
    return str(shtab.complete(parser, shell))


def _paths(argument: Action) -> shtab.CompleteType | None:
    """Return how shtab completes the paths that an argument takes; None where it takes none."""
    named = set(str(argument.metavar or "").split("|"))
    if named & _FILES:
        return shtab.FILE
    if "DIR" in named:
        return shtab.DIRECTORY
    return shtab.FILE if argument.type is Path else None
