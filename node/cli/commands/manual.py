"""Does the verbs completion and man: what shells and people read of all verbs."""

import os
from argparse import Action, ArgumentParser, Namespace
from datetime import UTC, date, datetime
from pathlib import Path

import shtab

from dht import InputError
from node.cli.arguments import build_parser
from node.cli.manual_page import arguments_of, manual_page, parsers_below
from node.version import VERSION

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


def man(arguments: Namespace) -> int:
    """Print the manual page of this version, for man(1); SOURCE_DATE_EPOCH may say of which day."""
    print(manual_page(build_parser(), VERSION, _day()), end="")
    return 0


def _day() -> date:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return (datetime.now(UTC) if given is None else datetime.fromtimestamp(int(given), UTC)).date()
    except (ValueError, OverflowError, OSError):
        flaw = f"SOURCE_DATE_EPOCH is {given!r}, which is not a number of seconds since 1970: correct or unset it"
        raise InputError(flaw) from None
