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


LATER = "lxml selectolax pypdf zeroconf whoosh async_upnp_client feedparser dns.resolver numpy.random numpy.ma \
rich multiprocessing node.extras.demo node.extras.simulation node.extras.web_report.report node.joining.upnp \
crawl.content.extract"


@pytest.mark.parametrize(
    ("module", "spared"),
    [("crawl.parsing.worker", HEAVY), ("node.cli.commands.query_node", HEAVY), ("node.process.run_node", LATER)],
)
def test_a_process_loads_nothing_that_it_does_not_need_at_first(module: str, spared: str) -> None:
    program = f"import sys, {module}; print(*[name for name in {spared.split()} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
