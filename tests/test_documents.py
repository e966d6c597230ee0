"""What the documents promise a reader: commands, settings, routes and figures that are there, and an index of them."""

import re
import shlex
from pathlib import Path

import pytest

from node.cli.main import build_parser
from node.config.settings import Config
from node.config.toml_reader import keys_of
from node.web.routes import ROUTES

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
    named = re.findall(r"(?:`|--set )((?:node|dht|crawl|store|index|hook)\.[a-z_0-9]+)(?: =|=|`)", path.read_text())
    assert not set(named) - set(keys_of(Config))


def test_routes_and_metrics_are_those_of_the_web_listener() -> None:
    text = (ROOT / "docs" / "client-author.md").read_text()
    told = set(re.findall(r"`(GET|POST) (/[\w/.]*)", text))
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
