"""What the documents promise a reader: commands, settings, routes and figures that are there, and an index of them."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from node.cli.main import build_parser
from node.config.settings import Config
from node.config.toml_reader import keys_of
from node.web.requests.routes import ROUTES

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
CURRENT = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]  # which names settings that are no more


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", DOCUMENTS, ids=_name)
def test_commands_are_understood(path: Path) -> None:
    for line in re.findall(r"^    (?:\w+\$ +)?(dse-node .*)", path.read_text(), re.M):
        arguments = build_parser().parse_args(shlex.split(line, comments=True)[1:])
        assert arguments.verb, f"{line!r} does nothing"


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
