"""The demo's options on material that it has never seen, and on material that cannot be used."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from survival import ROOT

from node.cli.main import USAGE, main

pytestmark = pytest.mark.e2e


def demo(tmp_path: Path, *arguments: str, within_s: float = 150) -> subprocess.CompletedProcess[str]:
    """Run `dse-node demo --once --json` in an empty home."""
    environment = os.environ | {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "node", "demo", "--once", "--json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=within_s, env=environment, cwd=tmp_path)


def small_web(folder: Path) -> Path:
    """One host with three pages."""
    (folder / "site.test").mkdir(parents=True)
    for name, title in (("index", "Kilns and their glazes"), ("p1", "Otters of the north"), ("p2", "Cello makers")):
        links = '<a href="p1.html">one</a> <a href="p2.html">two</a>'
        page = f"<html><head><title>{title}</title></head><body><p>{title}, told at length.</p>{links}</body></html>"
        (folder / "site.test" / f"{name}.html").write_text(page)
    return folder


def test_one_node_other_ports_own_web_and_own_queries(tmp_path: Path) -> None:
    queries = tmp_path / "queries.json"
    queries.write_text(json.dumps([{"q": "northern otters OR north", "expect": "http://site.test/p1.html"}]))
    with socket.socket() as taken, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken_too:
        taken.bind(("127.0.0.1", 18700))
        taken.listen()
        taken_too.bind(("127.0.0.1", 19700))
        web = small_web(tmp_path / "web")
        done = demo(
            *(tmp_path, "--nodes", "1", "--port", "18700"), *("--web", str(web), "--queries", str(queries)), within_s=60
        )
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert report["nodes"] == 1 and report["documents"] == 3 and report["replicas_min"] == 1
    [row] = report["queries"]
    assert row["expect"] in row["results"] and report["after_kill"] is None
    assert "http://127.0.0.1:18701" in done.stderr


@pytest.mark.parametrize(
    ("option", "content", "says"),
    [
        ("--queries", None, "No such file"),
        ("--queries", "not JSON", "cannot be read as queries"),
        ("--queries", '[{"q": "words"}]', "expect"),
        ("--queries", "[]", "no queries"),
        ("--web", None, "one subfolder per host"),
        ("--web", "a file", "one subfolder per host"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, content: str | None, says: str
) -> None:
    path = tmp_path / "given"
    if content is not None:
        path.write_text(content)
    check_refused(capsys, option, path, says)


def test_an_empty_web_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_refused(capsys, "--web", tmp_path, "one subfolder per host")


def check_refused(capsys: pytest.CaptureFixture[str], option: str, path: Path, says: str) -> None:
    """The command ends at once as a mistake of its user, in one line that names the file."""
    assert main(["demo", "--once", "--json", option, str(path)]) == USAGE
    output = capsys.readouterr()
    assert output.out == ""
    [line] = output.err.splitlines()
    assert line.startswith(f"dse-node: {path}") and says in line


@pytest.mark.prove
def test_nine_nodes(tmp_path: Path) -> None:
    done = demo(tmp_path, "--nodes", "9", "--port", "18760")
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert report["nodes"] == 9 and report["failures"] == [] and report["seconds"] < 120
