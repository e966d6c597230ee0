"""Writes the manual page, in man(7), from the parsers that `--help` has.

Pure: a parser, a version and a day in, roff out. No text may turn into a request or an escape: each goes through
`escaped`, and a line never begins with what was given.
"""

import argparse
from collections.abc import Iterable, Iterator
from datetime import date

EXIT_CODES = (
    (0, "done"),
    (1, "it failed, or a part of it did"),
    (2, "the command is wrong"),
    (3, "status: the node answers, and needs its owner"),
    (4, "run: another machine runs with the identity of this node"),
    (78, "the configuration is wrong"),
    (130, "it was interrupted"),
)
_FILES = (  # below --data-dir; node/config/data_dir.py has them all
    ("config.toml", "settings; `dse-node paths --keys` prints every key with default and reason"),
    ("network.toml", "the network file"),
    ("identity.key", "the key that identifies the node; keep it secret"),
    ("admin.token", "the token for programs that change the node over HTTP"),
    ("keys/", "publishers' keys"),
    ("dht/, store/, index/", "peers, documents, and the index of them"),
)
_ENVIRONMENT = (
    ("XDG_DATA_HOME", "parent of the directory dse-node, unless --data-dir or --config is given (~/.local/share)"),
    ("NO_COLOR", "if set, output has no bold text and no colours"),
    ("XDG_CONFIG_HOME", "parent of systemd/user, for the unit that `service install` writes (~/.config)"),
    ("SOURCE_DATE_EPOCH", "the day of this page, in seconds since 1970, for reproducible packages"),
)
_ROFF = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", "…": "..."}
_WIDE = 100_000  # columns in which no usage is broken; roff breaks it where the reader's terminal ends


def manual_page(parser: argparse.ArgumentParser, version: str, day: date) -> str:
    """Return the manual page, section 1, of a program with verbs; `day` stands at its foot."""
    name = parser.prog
    first, _, examples = (parser.description or "").partition("\n\n")
    tries = [line.strip().partition("  ") for line in examples.splitlines()]
    lines = [f".TH {escaped(name.upper())} 1 {day.isoformat()} {escaped(f'{name}-{version}')}"]
    lines += [".ad l", ".SH NAME", f"{escaped(name)} \\- {escaped(first[:1].lower() + first[1:].rstrip('.'))}"]
    lines += [".SH SYNOPSIS", _usage(parser), ".SH DESCRIPTION", _text(first)]
    lines += _listed((purpose, command) for purpose, _, command in tries)
    lines += [".PP", _text(f"Each verb explains itself: {name} VERB --help."), ".SH COMMANDS"]
    for verb in parsers_below(parser):
        lines += _command(verb)
    lines += [".SH EXIT STATUS", *_listed((str(code), about) for code, about in EXIT_CODES)]
    lines += [".SH FILES", _text(f"In the node's directory, which `{name} paths` prints:"), *_listed(_FILES)]
    lines += [".SH ENVIRONMENT", _text("No setting of a node is read from the environment."), *_listed(_ENVIRONMENT)]
    lines += [
        ".SH SEE ALSO",
        _text("README.md and docs/ of the source: for volunteers, publishers, authors of clients."),
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return text that roff prints as it is, on one line: hyphens can be copied, nothing is an escape."""
    one_line = " ".join(text.split())
    return "".join(_ROFF.get(sign) or (sign if sign.isascii() else f"\\[u{ord(sign):04X}]") for sign in one_line)


def _text(text: str) -> str:
    """Write a line of text that is no request, whatever it begins with."""
    return f"\\&{escaped(text)}"


def _usage(parser: argparse.ArgumentParser) -> str:
    formatter = argparse.HelpFormatter(parser.prog, width=_WIDE)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    rest = formatter.format_help().strip().removeprefix(parser.prog)
    return f"\\fB{escaped(parser.prog)}\\fR {escaped(rest)}"


def _command(verb: argparse.ArgumentParser) -> Iterator[str]:
    yield f".SS {escaped(verb.prog)}"
    yield from (_usage(verb), ".PP", _text(f"{verb.description}."))
    for argument in arguments_of(verb):
        about = (argument.help or "") % {**vars(argument), "prog": verb.prog}
        yield from (".TP", _head(argument), _text(about))
    if verb.epilog:
        kind, _, example = verb.epilog.partition(": ")
        yield from (".PP", f"{_text(kind.capitalize())}: \\fB{escaped(example)}\\fR")


def _head(argument: argparse.Action) -> str:
    """Write an argument's names in bold, and what it takes in italics."""
    value = str(argument.metavar or argument.dest)
    if argument.choices is not None:
        value = "|".join(map(str, argument.choices))
    names = ", ".join(f"\\fB{escaped(option)}\\fR" for option in argument.option_strings)
    taken = "" if argument.nargs == 0 else f"\\fI{escaped(value)}\\fR"
    return f"{names} {taken}".strip()


def _listed(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, about in rows:
        yield from (".TP", f"\\fB{escaped(term)}\\fR", _text(about))


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
