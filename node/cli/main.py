"""Runs the command line: one verb, an exit code. Each verb's module is imported only when it is asked for.

Exit codes:
0: ok.
1: failed, or the node does not run.
2: usage.
3: something needs a node's owner.
4: another machine runs with the node's identity.
78: bad configuration (EX_CONFIG of sysexits.h).
"""

import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from node.cli.arguments import build_parser

OK, FAILED, USAGE, TWIN, BAD_CONFIG = 0, 1, 2, 4, 78


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; an error is one line on standard error: what, where, what to do."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character gets "?" in its place
            stream.reconfigure(errors="replace")
    parser = build_parser()
    arguments, rest = parser.parse_known_args(argv)
    if rest:
        (arguments.parser if "parser" in arguments else parser).error(f"unrecognized arguments: {' '.join(rest)}")
    if arguments.verb is None:
        (arguments.parser if "parser" in arguments else parser).print_help()
        return OK
    module, _, function = arguments.verb.partition(":")
    try:
        return int(getattr(load(module if "." in module else f"node.cli.commands.{module}"), function)(arguments))
    except BrokenPipeError:  # the reader of our output went away, which is no failure of ours to report
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _tell(error)


def load(module: str) -> ModuleType:
    """Import a module; what it makes stays, so nobody looks for garbage in it, which takes a tenth of the time."""
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def _tell(error: Exception) -> int:
    """Print one line for each of our own errors, also those in a group; anything else is a bug and stays loud."""
    from dht import DseError, InputError
    from node.errors import ConfigError, TwinRuns, error_text
    from node.views.safe_text import plain_lines

    if isinstance(error, ExceptionGroup):
        ours, others = error.split(DseError)
        if others is not None or ours is None:
            raise error
        return max(_tell(inner) for inner in ours.exceptions)
    if not isinstance(error, DseError | OSError):
        raise error
    print(f"dse-node: {plain_lines(error_text(error))}", file=sys.stderr)
    if isinstance(error, ConfigError):
        return BAD_CONFIG
    if isinstance(error, TwinRuns):
        return TWIN
    return USAGE if isinstance(error, InputError) else FAILED
