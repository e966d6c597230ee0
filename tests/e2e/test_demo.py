"""The promise of the README, end to end: real processes, real sockets, real pages, a real kill."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.e2e


def demo(tmp_path: Path, *arguments: str, within_s: float = 150) -> subprocess.CompletedProcess[str]:
    """Run `dse-node demo` in an empty home."""
    environment = os.environ | {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "node", "demo", *arguments],
        capture_output=True,
        text=True,
        timeout=within_s,
        env=environment,
        cwd=tmp_path,
    )


def test_demo_once_keeps_every_promise(tmp_path: Path) -> None:
    done = demo(tmp_path, "--once", "--json", "--port", "18090")
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
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
    assert report["seconds"] < 120
    assert not list(tmp_path.glob("dse-demo-*")), "the demo leaves nothing behind"


def test_demo_works_on_a_web_it_has_never_seen(tmp_path: Path) -> None:
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
    done = demo(
        tmp_path, "--once", "--json", "--nodes", "2", "--port", "18190", "--web", str(tmp_path / "web"), within_s=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert report["nodes"] == 2 and report["hosts"] == 2
    assert report["documents"] == 16 and report["replicas_min"] == 2
    assert len({row["q"] for row in report["queries"]}) >= 8
