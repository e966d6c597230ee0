"""Shells complete `dse-node` at the tab key: run in the shells that this machine has."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from node.cli.arguments import build_parser
from node.cli.commands.manual import script_for
from node.cli.manual_page import arguments_of, parsers_below

# The line's words, of which the last is being typed, as bash hands them to what `complete -F` names.
_AT_TAB = """
at_tab() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); "$asked"; echo "${COMPREPLY[@]}"; }
asked=$(complete -p dse-node); asked=${asked#*-F }; asked=${asked%% *}
"""


def in_bash(folder: Path, *lines: list[str]) -> list[list[str]]:
    """Return the words that bash offers for each line, in a folder."""
    typed = "\n".join(f"at_tab {shlex.join(['dse-node', *line])}" for line in lines)
    script = script_for("bash", build_parser()) + _AT_TAB + typed
    command = ["bash", "--norc", "--noprofile", "-c", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert not done.returncode and "line" not in done.stderr, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def test_bash_completes_verbs_options_choices_and_files(tmp_path: Path) -> None:
    (tmp_path / "campus.toml").touch()
    (tmp_path / "camp").mkdir()
    offered = in_bash(
        tmp_path,
        ["sim"],
        ["strategy", "pu"],
        ["crawl", "--dep"],
        ["crawl", "--depth", "2", "--scope", "p"],
        ["completion", ""],
        ["init", "--network", "cam"],
        ["run", "--data-dir", "cam"],
        ["archive", "export", "--site", "example.org", "camp"],
        ["search", "run", "--"],
    )
    assert offered[:3] == [["simulate"], ["publish"], ["--depth"]]
    assert offered[3:5] == [["prefix"], ["bash", "zsh", "fish"]]
    assert [set(names) for names in offered[5:8]] == [{"camp", "campus.toml"}, {"camp"}, {"camp", "campus.toml"}]
    assert "--explain" in offered[8], "a word of a query is taken for a verb"


def test_bash_offers_each_verb_exactly_its_options(tmp_path: Path) -> None:
    verbs = list(parsers_below(build_parser()))
    offered = in_bash(tmp_path, *([*verb.prog.split()[1:], "--"] for verb in verbs))
    for verb, options in zip(verbs, offered, strict=True):
        own = {option for argument in arguments_of(verb) for option in argument.option_strings}
        assert set(options) == own | {"--help"}, verb.prog


@pytest.mark.parametrize(("shell", "mark"), [("zsh", "--{}"), ("fish", "-l {} ")])
def test_each_verb_and_option_stands_in_the_script(shell: str, mark: str) -> None:
    script = script_for(shell, build_parser()) + " "
    for verb in parsers_below(build_parser()):
        assert verb.prog.split()[-1] in script
        for option in (option for argument in arguments_of(verb) for option in argument.option_strings):
            assert mark.format(option[2:]) in script.replace("\n", " "), f"{verb.prog} {option}"


def in_shell(shell: str, *words: str, typed: str = "", folder: Path) -> str:
    """Return the output of a shell, given options and its input. The test is skipped where there is no such shell."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on this machine")
    done = subprocess.run([shell, *words], input=typed, cwd=folder, capture_output=True, text=True, timeout=60)
    assert not done.returncode and not done.stderr, done.stderr
    return done.stdout


def test_zsh_reads_its_script(tmp_path: Path) -> None:
    (tmp_path / "_dse-node").write_text(script_for("zsh", build_parser()))
    in_shell("zsh", "-f", "-n", "_dse-node", folder=tmp_path)
    found = "fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u; print $_comps[dse-node]"
    assert in_shell("zsh", "-f", "-c", found, folder=tmp_path).strip() == "_dse-node"


def test_fish_completes_verbs_options_choices_and_files(tmp_path: Path) -> None:
    (tmp_path / "campus.toml").touch()
    script = script_for("fish", build_parser())
    lines = ["sim", "strategy pu", "crawl --dep", "crawl --scope p", "init --network cam"]
    asked = "\n".join(f"complete -C 'dse-node {line}'" for line in lines)
    offered = in_shell("fish", "--no-config", typed=f"{script}\n{asked}\n", folder=tmp_path)
    answers = [line.split("\t")[0] for line in offered.splitlines()]
    assert answers == ["simulate", "publish", "--depth", "prefix", "campus.toml"]
