"""docs/volunteer.md, crawl jobs: what patterns leave out on several nodes, and a job that outlasts a restart."""

from pathlib import Path

import pytest
from machines import Machine, dse_node, start_all, village, wait_until

pytestmark = pytest.mark.e2e
HOSTS = ("town.test", "shops.test", "parks.test", "roads.test")


def site(host: str, other: str) -> dict[str, str]:
    """A start page that leads to an open page, a private one, a file, and another host."""
    links = "".join(f'<a href="{to}">x</a>' for to in ("/open.html", "/private/1.html", "/a.txt"))
    page = "<html><head><title>{}</title></head><body><p>Opening hours of {}</p>{}</body></html>"
    return {
        "index.html": page.format(host, host, f'{links}<a href="http://{other}:PORT/">there</a>'),
        "open.html": page.format("open", host, '<a href="/private/2.html">x</a>'),
        "private/1.html": page.format("private", host, ""),
        "private/2.html": page.format("private", host, ""),
        "a.txt": "a text",
    }


def listed(machine: Machine) -> str:
    return machine.do("jobs").splitlines()[-1]


def test_a_job_leaves_out_its_patterns_on_all_nodes_and_is_listed_after_a_restart(tmp_path: Path) -> None:
    web = {host: site(host, other) for host, other in zip(HOSTS, (*HOSTS[1:], HOSTS[0]), strict=True)}
    with village(tmp_path, web, 27220) as town:
        contact = f"127.0.0.1:{town.ports[-1]}"
        made = dse_node("network", "new", "campus", "--out", "campus.toml", "--bootstrap", contact, home=tmp_path)
        assert made.returncode == 0, made.stderr
        one, two = town.add("one"), town.add("two")
        start_all([one, two])
        for machine in (one, two):
            wait_until("each sees two", lambda m=machine: len(m.get("/api/v1/peers")["peers"]) == 2)
        url = f"http://town.test:{town.port}/"
        left_out = ("--exclude", "/private/", "--exclude", r"\.txt$")
        dry = one.do("crawl", f"{url}private/1.html", url, *left_out, "--dry-run", code=1)
        assert f"refused: {url}private/1.html: excluded by this job" in dry
        assert "exclude: '(' is no RE2 pattern" in one.do("crawl", url, "--exclude", "(", code=2)
        done = one.do("crawl", url, "--scope", "whole", "--depth", "9", *left_out, "--wait")
        assert r"within the whole web without /private/, \.txt$" in done
        assert f"done: {2 * len(HOSTS)} fetched, 0 waiting" in done
        wanted = sorted(f"http://{host}/{page}" for host in HOSTS for page in ("", "open.html"))
        assert sorted(town.fetches()) == wanted
        one.stop()
        one.start()
        wait_until("the job is done again", lambda: f"done: {2 * len(HOSTS)} fetched" in listed(one))
        assert "whole web without /private/" in listed(one)
        assert one.do("jobs", "cancel", "1").startswith(f"cancelled: {url}")
        one.do("crawl", url, "--scope", "whole", "--depth", "9", "--wait")
        missing = {f"http://{host}/{page}" for host in HOSTS for page in ("private/1.html", "a.txt")}
        wait_until("a job without patterns fetches the rest", lambda: missing <= {*town.fetches()})
