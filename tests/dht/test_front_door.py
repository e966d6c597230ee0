"""A front door shows what its package lists, and loads no more than somebody asks for."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = "aiohttp cryptography jinja2 sqlite3 tantivy node.process store.replication dht.overlay index.shard"


@pytest.mark.parametrize("package", ["dht", "crawl", "store", "index", "bootstrap"])
def test_all_that_a_package_lists_is_there_and_nothing_else(package: str) -> None:
    door = import_module(package)
    assert all(getattr(door, name) is not None for name in door.__all__)
    with pytest.raises(ImportError, match="no_such_name"):
        exec(f"from {package} import no_such_name")


@pytest.mark.parametrize("module", ["crawl.parsing.worker", "node.cli.commands.query_node"])
def test_a_parser_and_a_verb_that_asks_a_node_load_nothing_that_only_nodes_need(module: str) -> None:
    program = f"import sys, {module}; print(*[name for name in {HEAVY.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
