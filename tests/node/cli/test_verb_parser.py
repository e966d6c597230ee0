"""A verb's parser is what argparse makes of the same calls, made when the verb is asked for."""

import argparse

import pytest

from node.cli.verb_parser import VerbParser


def test_what_a_verb_takes_is_looked_at_when_the_verb_is_asked_for() -> None:
    verb = VerbParser(prog="any")
    for _ in range(2):
        verb.add_argument("--same")
    with pytest.raises(argparse.ArgumentError):
        verb.format_help()


def test_it_parses_and_helps_as_argparse_does() -> None:
    told = []
    for kind in (argparse.ArgumentParser, VerbParser):
        verb = kind(prog="any", description="does a thing")
        verb.set_defaults(verb="a:b")
        verb.add_argument("name", help="whose")
        group = verb.add_mutually_exclusive_group()
        group.add_argument("--one", action="store_true")
        group.add_argument("--other", type=int, default=3)
        told.append((vars(verb.parse_args(["x", "--one"])), verb.get_default("verb"), verb.format_help()))
    assert told[0] == told[1]
