"""Every verb has a function behind it, and what is typed wrong is refused at once."""

import argparse
import importlib
from collections.abc import Iterator

import pytest

from node.cli.arguments import build_parser
from node.cli.main import main


def targets_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The `module:function` of every verb below a parser."""
    if parser.get_default("verb"):
        yield parser.get_default("verb")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from targets_of(verb)


def test_each_verb_has_a_function_that_does_it() -> None:
    targets = list(targets_of(build_parser()))
    assert len(targets) > 20
    for module, _, function in (target.partition(":") for target in targets):
        name = module if "." in module else f"node.cli.commands.{module}"
        assert callable(getattr(importlib.import_module(name), function))


@pytest.mark.parametrize(
    "arguments", [["serch"], ["search"], ["demo", "--nodes", "12"], ["search", "x", "--limit", "0"]]
)
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        build_parser().parse_args(arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serach", "x"], "'serach' is not a command; did you mean search?"),
        (["strategy", "sgin"], "'sgin' is not a command; did you mean sign?"),
        (["--data-dir", "X", "status"], "options come after the command, as in: dse-node status --data-dir DIR"),
        (["status", "extra"], "usage: dse-node status"),
        (["service", "status", "--data-dir", "C"], "usage: dse-node service status"),
    ],
)
def test_a_slip_is_answered_with_the_command_that_was_meant_or_its_usage(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    told = capsys.readouterr().err
    assert ended.value.code == 2 and said in told and "choose from" not in told
