"""The crawler's benchmark: what the server's log says is so, and processor time is that of all processes."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.cpu import threads_s, tree_s
from benchmarks.crawl.judged import judge
from benchmarks.crawl.parts import LANES, PARTS
from benchmarks.crawl.ratio import DELAY_S, MISSING, MeasuredRound, rows_of
from benchmarks.crawl.sides import Spent, our_settings
from benchmarks.crawl.web import NAMES, find_tier
from node.extras.demo.layout import DemoNode
from node.extras.demo.sample_server import SampleServer
from node.extras.demo.sample_settings import SiteSettings, calmed
from node.extras.demo.sample_site import Times
from node.extras.demo.sample_web import serve


def line(t: float, host: str, path: str, ms: float = 10.0, status: int = 200, ua: str = "ours/1") -> dict[str, object]:
    return {"t": t, "host": host, "path": path, "ms": ms, "status": status, "ua": ua, "bytes": 100}


def test_a_log_tells_repeats_gaps_and_open_requests_of_one_visitor():
    log = [
        line(0.0, "a", "/robots.txt"),
        line(1.0, "a", "/1"),
        line(1.05, "a", "/2"),  # 40 ms after the end, 50 ms after the start of the one before
        line(1.055, "a", "/1"),  # too soon, while another is open, and once more
        line(1.0, "b", "/1"),
        line(9.0, "b", "/gone", status=404),
        line(9.5, "b", "/picture.png"),
        line(9.9, "a", "/robots.txt"),  # by the site's next crawler
        line(1.0, "a", "/other", ua="theirs/1"),
    ]
    seen = judge(log, "ours", 0.05, from_start=False)
    assert seen.pages == {("a", "/1"), ("a", "/2"), ("b", "/1")}
    assert (seen.requests, seen.repeats, seen.gaps, seen.open_over_one) == (8, 1, 2, 1)
    assert judge(log, "ours", 0.05, from_start=True).gaps == 1, "50 ms from start to start"
    assert judge(log, "theirs", 0.05, from_start=True).repeats == 0
    assert judge([], "ours", 0.05, from_start=True).wall_s == 0.0


def test_processor_time_is_that_of_all_processes():
    burn = "import time\nwhile time.process_time() < 0.15: pass\n"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])\nprint(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        assert tree_s(process.pid) >= 0.14, "of a child that has ended"
        process.stdin.close()
    before = tree_s(os.getpid())
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    assert tree_s(os.getpid()) - before >= 0.08
    assert sum(threads_s(os.getpid()).values()) > 0


def test_the_sample_has_its_hosts_under_several_names(tmp_path: Path):
    tier = find_tier(None, tmp_path, NAMES)
    hosts = [folder.name for folder in tier.root.iterdir() if folder.is_dir()]
    assert len(hosts) % NAMES == 0 and f"portal{NAMES}.test" in hosts
    assert find_tier(tmp_path, tmp_path, NAMES).root == tmp_path


async def test_the_delay_of_the_largest_host_bounds_our_crawl_and_not_that_of_an_address(tmp_path: Path):
    root = find_tier(None, tmp_path, NAMES).root
    settings = our_settings(DemoNode("node-1", (4,), 1, 2, tmp_path), tmp_path / "hosts", DELAY_S)
    at_address = Counter[str]()
    async with serve(root, ipv6=False) as web:
        sites = SampleServer(root, None, Times(0.0, 1.0), "", 0).sites
        for host, addresses in web.hosts.items():
            at_address[addresses[0]] += len(sites[host].pages)
    host_s = max(len(site.pages) for site in sites.values()) * settings["crawl.min_delay_s"]
    assert max(at_address.values()) * settings["crawl.address_delay_s"] < host_s


def test_a_calm_host_keeps_its_files_and_rules_only():
    odd = SiteSettings(
        front="/a.html", robots="User-agent: *\nCrawl-delay: 5\nDisallow: /x\n", traps=("bomb",), error_rate=0.5
    )
    assert calmed(odd) == SiteSettings(front="/a.html", robots="User-agent: *\nDisallow: /x\n")


def test_the_small_run_has_every_part_once():
    assert sorted(part for lane in LANES for part in lane) == sorted(PARTS)


def test_without_scrapy_our_own_figures_are_there_and_the_rest_says_what_is_missing():
    ours = judge([line(n, "a", f"/{n}") for n in range(10)], "ours", 0.05, from_start=False)
    nobody = judge([], "scrapy-full", 0.05, from_start=True)
    alone = MeasuredRound(Spent(0.02, 0.01), None, None, None, Spent(0.005), ours, nobody, nobody, nobody)
    rows = {each.what.partition(" (")[0]: each for each in rows_of([alone], "tier")}
    assert rows["CPU a page, all processes; peer: Scrapy tuned"].ours == 2000.0
    assert rows["CPU a page, ours / Scrapy tuned"].peer == MISSING
    assert rows["CPU a page, ours / Scrapy tuned"].met is None, "what was not measured is not missed"
    assert rows["pages fetched twice, by the server's log"].met
