"""The manual page as man(1) shows it, and that nothing of the command line is missing there."""

import re
import shutil
import subprocess
from argparse import ArgumentParser
from datetime import date
from pathlib import Path

import pytest

from node.cli.arguments import build_parser
from node.cli.main import main
from node.cli.manual_page import EXIT_CODES, arguments_of, escaped, manual_page, parsers_below

ROOT = Path(__file__).parents[3]
DAY = date(2026, 11, 24)


def checked(page: str, *command: str) -> str:
    """The page as a formatter shows it, which must complain of nothing; skipped where there is no such formatter."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} on this machine")
    done = subprocess.run(command, input=page, capture_output=True, text=True, timeout=60)
    assert not done.returncode and not done.stderr, done.stderr
    return re.sub("\x1b\\[[0-9;]*m", "", done.stdout)


@pytest.mark.parametrize("device", ["utf8", "ascii"])
def test_groff_shows_it_without_a_warning(device: str) -> None:
    shown = checked(manual_page(build_parser(), "1.2.3", DAY), "groff", "-ww", "-man", f"-T{device}", "-P-bou")
    assert shown.startswith("DSE-NODE(1)") and "dse-node-1.2.3" in shown and "2026-11-24" in shown
    assert "Example: dse-node search '\"a phrase\" site:example.org' --limit 5" in " ".join(shown.split())
    assert "--set KEY=VALUE" in shown and "2^N hashes" in shown


def test_mandoc_finds_no_fault() -> None:
    assert not checked(manual_page(build_parser(), "1.2.3", DAY), "mandoc", "-Tlint", "-Wwarning")


def test_each_verb_and_option_stands_in_its_part() -> None:
    page = manual_page(build_parser(), "1.2.3", DAY)
    parts = {part.split("\n")[0]: part for part in re.split(r"^\.S[SH] ", page, flags=re.M)}
    order = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "FILES", "ENVIRONMENT", "SEE ALSO"]
    assert [name for name in parts if name.isupper()] == order
    for verb in parsers_below(build_parser()):
        part = parts[escaped(verb.prog)]
        for argument in arguments_of(verb):
            heads = [f"\\fB{escaped(option)}\\fR" for option in argument.option_strings]
            heads = heads or [f"\\fI{escaped(str(argument.metavar or argument.dest))}\\fR"]
            heads = heads if argument.option_strings or not argument.choices else ["|".join(argument.choices)]
            assert all(head in part for head in heads), f"{verb.prog} {argument.dest}"


def test_no_text_becomes_a_request_or_an_escape() -> None:
    parser = ArgumentParser("prog", description="A thing.\n\n.so /etc/passwd\n  'x  \\fI\\n")
    verbs = parser.add_subparsers()
    verb = verbs.add_parser("go", description=".de XX\n.rm SH", epilog="example: 'go \\*[x]")
    verb.add_argument("--odd", metavar="'A\\B", help="'s 100%% of\n.ex %(dest)s, 汉 and …")
    page = manual_page(parser, "1", DAY)
    allowed = (".TH ", ".SH ", ".SS ", ".PP", ".TP", ".ad l")
    assert all(line.startswith(allowed) for line in page.splitlines() if line[0] in ".'")
    shown = " ".join(checked(page, "groff", "-ww", "-man", "-Tutf8", "-P-bou").split())
    assert ".so /etc/passwd" in shown and "'A\\B 's 100% of .ex odd, 汉 and ..." in shown
    assert "Example: 'go \\*[x]" in shown


def test_exit_codes_are_those_of_the_document() -> None:
    text = (ROOT / "docs" / "client-author.md").read_text()
    told = re.findall(r"^\| (\d+) \| ", text.partition("| exit code |")[2].partition("\n\n")[0], re.M)
    assert [str(code) for code, _ in EXIT_CODES] == told


def test_a_package_may_say_of_which_day_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert main(["man"]) == 0
    assert capsys.readouterr().out.startswith(".TH DSE\\-NODE 1 1970-01-02 ")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert main(["man"]) == 2
    assert "SOURCE_DATE_EPOCH is 'yesterday'" in capsys.readouterr().err
