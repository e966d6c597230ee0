"""Commands on machines as they are: terminals of any encoding, proxies in the environment, files with a BOM."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bootstrap.networks import load_network
from crawl.fetch.fetcher import _hosts
from node.cli.main import main
from node.config.settings import load_config
from node.jobs.seed_files import read_seeds
from node.web.search.preferences import RulesFile

ROOT = Path(__file__).parents[3]
BOM = b"\xef\xbb\xbf"


def run(cwd: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[bytes]":
    environment = {**os.environ, "HOME": str(cwd), "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-m", "node", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp437", "koi8-r", "utf-8", "big5:strict"])
def test_a_terminal_of_any_encoding_gets_results(site: Any, tmp_path: Path, encoding: str) -> None:
    asked = "search", "绿茶 \u2014 thé", "--url", f"http://127.0.0.1:{site.port}"
    shown = run(tmp_path, *asked, PYTHONIOENCODING=encoding)
    assert (shown.returncode, shown.stderr) == (0, b"") and b"Nothing found for" in shown.stdout
    told = run(tmp_path, *asked, "--json", PYTHONIOENCODING=encoding)
    body = json.loads(told.stdout.decode(encoding.partition(":")[0]))
    assert body["query"] == asked[1]


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"])
def test_health_is_asked_past_all_proxies_of_the_environment(site: Any, tmp_path: Path, name: str) -> None:
    asked = "status", "--ready", "--url", f"http://127.0.0.1:{site.port}"
    proxy = {name: "http://127.0.0.1:1", "no_proxy": "", "NO_PROXY": ""}
    assert run(tmp_path, *asked, **proxy).stdout == b"ready\n"


def test_health_has_an_exit_code_of_its_own(site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["status", "--ready", "--json", "--url", f"http://127.0.0.1:{site.port}"]
    assert main(asked) == 0
    site.service.ready = 0
    assert main(asked) == 1
    assert [json.loads(line)["ready"] for line in capsys.readouterr().out.splitlines()] == [True, False]


def test_files_that_people_edit_may_begin_with_a_bom(home: str, tmp_path: Path) -> None:
    config, network = Path(home) / "config.toml", Path(home) / "network.toml"
    known = load_network(network).id
    for file in (config, network):
        file.write_bytes(BOM + file.read_bytes())
    assert load_config(config).node.web_port == 8090
    assert load_network(network).id == known
    assert load_network(network.read_text("utf-8")).id == known, "as it comes from a URL"
    listed = tmp_path / "list.txt"
    listed.write_bytes(BOM + b"http://a.example/\r\n")
    assert list(read_seeds(listed)) == ["http://a.example/"]
    listed.write_bytes(BOM + b"block a.example\r\n")
    assert RulesFile(str(listed)).rules()
    listed.write_bytes(BOM + b"192.0.2.1 a.example\r\n")
    assert dict(_hosts(str(listed))) == {"a.example": ("192.0.2.1",)}
