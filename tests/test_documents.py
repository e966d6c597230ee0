"""The documents promise commands, settings, routes and figures that exist, and an index of them."""

import argparse
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.cli.main import build_parser
from node.config.settings import Config
from node.config.toml_reader import keys_of
from node.web.requests.route_table import ROUTES

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
HISTORY = ROOT / "docs" / "history"
CURRENT = [  # the others name settings that are no more
    path for path in DOCUMENTS if path.name != "CHANGELOG.md" and path.parent != HISTORY
]

PROGRAM = ("node", "dht", "crawl", "store", "index", "bootstrap", "examples", "packaging", "contrib")
NAMING = [  # files that may tell somebody to type a command
    *CURRENT,
    *(
        path
        for folder in PROGRAM
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".html", ".js", ".service", ".md", ".yaml", ".toml", ".sh", ".1")
    ),
]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_commands_are_understood(path: Path) -> None:
    for line in re.findall(r"^    (?:\w+\$ +)?(dse-node .*)", path.read_text(), re.M):
        arguments = build_parser().parse_args(shlex.split(line, comments=True)[1:])
        assert arguments.verb, f"{line!r} does nothing"


def test_every_command_that_is_named_anywhere_is_there() -> None:
    """In documents, pages, texts, messages, helps and units: `dse-node VERB [VERB] [--option]`, and lists of verbs."""
    named = [(path, command) for path in NAMING for command in _commands_in(path)]
    assert len(named) > 200 and {path.suffix for path, _ in named} >= {".md", ".py", ".html"}
    assert [f"{_name(path)}: {command}" for path, command in named if not _is_there(command)] == []


def test_a_command_that_is_not_there_is_found() -> None:
    texts = {
        "t('a', command='dse-node strategy draft, preview, sign')": ["dse-node strategy preview"],
        "run `dse-node strategy preview` first": ["dse-node strategy preview"],
        "run (dse-node strategy preview FILE) first": ["dse-node strategy preview FILE"],
        "<code>dse-node fetch https://a.test/</code>": ["dse-node fetch https://a.test/"],
        'f"start it: dse-node strat {name}; then wait"': ["dse-node strat {name}"],
        "    dse-node status --jsn": ["dse-node status --jsn"],
        "`dse-node service install|delete`": ["dse-node service delete"],
        'dse-node is a node; b"dse-node attest" and `"dse-node attest"` are domains': [],
        "`dse-node strategy diff A --effect`, `dse-node init && dse-node run`; dse-node stores pages": [],
    }
    for text, wrong in texts.items():
        assert [command for command in _commands(text) if not _is_there(command)] == wrong, text


def _commands_in(path: Path) -> Iterator[str]:
    """Yield the commands that a file names; in documents, domains of signatures are in quotes, or end with " 1"."""
    return _commands(path.read_text(), "`(") if path.suffix == ".md" else _commands(path.read_text())


def _commands(text: str, quotes: str = "`('\"") -> Iterator[str]:
    """Yield each command that a text names, one by one where it names several at once. Prose that begins with the
    program's name counts only if it goes on as a family of verbs does."""
    opens = rf"(?:(?<![\"'b`])(?<!person=)[{quotes}]|<code>|: |^ {{4}})"
    families = "|".join(name for name, verb in _VERBS.items() if _below(verb))
    spans = rf"(?:{opens}(?=dse-node [a-z])|(?=dse-node (?:{families}) ))(dse-node [^`'\"<>\n);]*)"
    found = (span for span in re.findall(spans, text, re.M) if not re.fullmatch("dse-node [a-z ]+ 1", span))
    for span in found:
        family = ""
        for part in re.split(r", | && ", span.partition("#")[0]):
            program, _, rest = part.partition(" ")
            if program == "dse-node":
                family = next((name for name in families.split("|") if rest.startswith(f"{name} ")), "")
                verbs, _, options = rest.removeprefix(f"{family} ").partition(" ")
                yield from (" ".join(filter(None, ("dse-node", family, verb, options))) for verb in verbs.split("|"))
            elif family and re.fullmatch("[a-z]+", part.strip()):
                yield f"dse-node {family} {part.strip()}"


def _is_there(command: str) -> bool:
    """Tell whether the parser has the verbs of a command, and the options that it names."""
    verb, words = _TOP, command.split()[1:]
    while words and (verbs := _below(verb)):
        word = re.split("[.,:{]", words.pop(0))[0]
        if not re.fullmatch("[a-z-]+", word) or word.startswith("--"):
            return verb is not _TOP  # a family, and something that stands for any of its verbs
        if word not in verbs:
            return False
        verb = verbs[word]
    options = {option for action in verb._actions for option in action.option_strings}
    return {word.partition("=")[0].rstrip(".,:") for word in words if re.match("--[a-z]", word)} <= options


def _below(verb: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    kinds = (action for action in verb._actions if isinstance(action, argparse._SubParsersAction))
    return next((dict(action.choices) for action in kinds), {})


_TOP: argparse.ArgumentParser = build_parser()
_VERBS = _below(_TOP)


@pytest.mark.parametrize("path", CURRENT, ids=_name)
def test_settings_are_there(path: Path) -> None:
    named = re.findall(
        r"(?:`|--set )((?:node|dht|crawl|store|index|hook|traces)\.[a-z_0-9]+)(?: =|=|`)", path.read_text()
    )
    assert not set(named) - set(keys_of(Config))


def test_routes_and_metrics_are_those_of_the_web_listener() -> None:
    text = (ROOT / "docs" / "client-author.md").read_text()
    told = set(re.findall(r"`(GET|POST) (/[\w/.-]*)", text))
    known = {(route.method, route.path) for route in ROUTES}
    assert not told - known
    assert not {(method, path) for method, path in known if path.startswith("/api/")} - told
    metrics = (ROOT / "node" / "web" / "monitoring.py").read_text()
    for metric in re.findall(r"`(dse_\w+?)(?:_total)?(?:\{[\w,]+\})?`", text):
        assert f'"{metric}"' in metrics, f"{metric} is no metric"


def test_the_index_lists_every_document() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    missing = [path.name for path in DOCUMENTS if f"{path.name})" not in index and path.name != "README.md"]
    assert not missing


def test_each_complaint_names_tests_that_are_there() -> None:
    rows = re.findall(r"^\| (?!complaint|-)(.+) \|$", (ROOT / "docs" / "complaints.md").read_text(), re.M)
    assert len(rows) == 15
    for row in rows:
        shown = re.findall(r"`(tests/[\w/]+\.py)` \(((?:`\w+`(?:, )?)+)\)", row)
        assert shown and len(shown) == row.count(".py`"), f"{row[:60]}: nothing shows it"
        for file, names in shown:
            text = (ROOT / file).read_text()
            assert not [name for name in re.findall(r"\w+", names) if f"def {name}(" not in text], f"{row[:60]}: {file}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_links_lead_to_headings_that_are_there(path: Path) -> None:
    for file, anchor in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", path.read_text()):
        target = path.parent / file if file else path
        headings = re.findall(r"^#+ (.+)$", target.read_text(), re.M)
        known = {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
        assert anchor in known, f"{file}#{anchor} is no heading"


def test_the_site_has_every_document() -> None:
    named = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    assert sorted(named) == sorted(_name(path) for path in DOCUMENTS)


@pytest.mark.prove
def test_the_site_is_built_and_each_link_leads_somewhere(tmp_path: Path) -> None:
    if importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: pip install -e '.[docs]'")
    places = {"DOCUMENTS": str(tmp_path / "documents"), "SITE": str(tmp_path / "site")}
    command = ["make", "site", f"BIN={Path(sys.executable).parent}"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **places}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    for path in DOCUMENTS:
        built = (tmp_path / "site" / _name(path)).with_suffix(".html")
        assert (built if built.name != "README.html" else built.with_name("index.html")).exists()
