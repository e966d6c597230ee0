"""The promise of the README, end to end: real processes, real sockets, real pages, a real kill."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.e2e


def begin(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `dse-node demo` in an empty home."""
    environment = os.environ | {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "node", "demo", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, env=environment, cwd=tmp_path, **pipes)


def finish(process: subprocess.Popen[str], within_s: float) -> tuple[str, str]:
    """Return what a demo printed to both streams once it has ended; kill it where it takes too long."""
    try:
        return process.communicate(timeout=within_s)
    finally:
        process.kill()


def test_demo_once_keeps_every_promise(tmp_path: Path) -> None:
    with begin(tmp_path, "--once", "--json", "--port", "18090") as process:
        out, errors = finish(process, 300)
    assert process.returncode == 0, errors[-3000:]
    report = json.loads(out)
    assert report["failures"] == []
    assert report["nodes"] == 5 and report["families"]["ipv4"] >= 4
    assert report["hosts"] >= 12 and report["pages_fetched"] >= 300 and report["documents"] >= 300
    assert report["duplicate_fetches"] == 0 and report["gaps_under_rule"] == 0
    assert report["replicas_min"] == 3
    queries = {row["q"] for row in report["queries"]}
    assert len(queries) >= 8 and len(report["queries"]) == 5 * len(queries)
    assert any(ord(c) > 0x4E00 for q in queries for c in q), "a Chinese query"
    assert any('"' in q for q in queries) and any("site:" in q for q in queries) and any(" -" in q for q in queries)
    assert all(row["expect"] in row["results"] and row["coverage"] == 1 and row["exact"] for row in report["queries"])
    assert report["after_kill"]["coverage"] == 1 and report["after_kill"]["same_top10"]
    assert report["after_kill"]["seconds_to_full_coverage"] <= 10
    assert sum(team["crawled"] for team in report["teams"]) == report["slots"] == 256
    assert {team["node"] for team in report["teams"]} == {f"node-{n}" for n in range(1, 6)}
    assert all(0 < team["owned"] < 256 for team in report["teams"])
    change = report["after_strategy"]
    assert change["pages"] > 3 and change["hidden_after_s"] < 60 and change["back_after_s"] < 150
    assert report["seconds"] - change["hidden_after_s"] - change["back_after_s"] < 120
    assert not list(tmp_path.glob("dse-demo-*")), "the demo leaves nothing behind"


def test_demo_works_on_a_web_it_has_never_seen_and_takes_other_ports_where_one_is_taken(tmp_path: Path) -> None:
    subjects = ["otters", "lighthouses", "kilns", "glaciers", "cellos", "orchards", "tramways", "beacons"]
    for host in ("one.test", "two.test"):
        (tmp_path / "web" / host).mkdir(parents=True)
        for n, subject in enumerate(subjects):
            other = "two.test" if host == "one.test" else "one.test"
            page = (
                f"<html><head><title>About {subject} by {host}</title></head><body><h1>{subject}</h1>"
                f"<p>Everything on {subject}, written for {host}.</p>"
                f'<a href="/p{(n + 1) % len(subjects)}.html">next</a> <a href="http://{other}/">elsewhere</a></body></html>'
            )
            name = "index.html" if n == 0 else f"p{n}.html"
            (tmp_path / "web" / host / name).write_text(page)
    options = ("--once", "--json", "--nodes", "1", "--port", "18190", "--web", str(tmp_path / "web"))
    with begin(tmp_path, *options) as process, socket.socket() as other:
        assert process.stderr is not None
        while "node-1" not in process.stderr.readline():  # its process was started and has not bound its port yet
            assert process.poll() is None
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 19190))
        other.listen()
        out, errors = finish(process, 120)
    assert process.returncode == 0, errors[-3000:]
    assert "port" in errors and "in use" in errors, "it says why it begins again"
    report = json.loads(out)
    assert report["nodes"] == 1 and report["hosts"] == 2
    assert report["documents"] == 16 and report["replicas_min"] == 1
    assert len({row["q"] for row in report["queries"]}) >= 8
