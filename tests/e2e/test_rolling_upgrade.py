"""Nine nodes are upgraded from the version before, one by one, and taken back again, while people search and pages are
crawled. No document is lost, no answer is an error or wrong, and all nodes agree in the end.

No answer is partial meanwhile, since the newer version goes by the rules of search of the one before until a strategy
names others.

The version before is the newest tag below this commit, else the commit before, where that speaks the same protocol.
Where the repository at hand lacks it (a shallow clone, a tarball), or the protocol changed, the test says so.
"""

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from machines import ROOT, Machine, Village, dse_node, linked, start_all, village, wait_until

NODES = 9
HOSTS = ("town.test", "shops.test", "parks.test")
TITLES = [f"thing{letter}" for letter in "abcdefghijkl"]  # pages that differ in numbers alone would say the same
WEB = {host: linked([f"{host[:4]}{title}" for title in TITLES], host, HOSTS[0]) for host in HOSTS}
EACH_PAUSE_S = 0.1


def before(folder: Path) -> Path:
    """The files of the version before, in a folder of their own."""

    def git(*words: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True)

    version = git("describe", "--tags", "--abbrev=0", "HEAD~1").stdout.decode().strip() or "HEAD~1"
    packed = git("archive", version)
    if packed.returncode:
        pytest.skip(f"the version before, {version}, is not in this repository: {packed.stderr.decode().strip()}")
    folder.mkdir()
    subprocess.run(["tar", "x", "-C", str(folder)], input=packed.stdout, check=True)
    if version == "HEAD~1" and protocol_of(folder) != protocol_of(ROOT):
        pytest.skip("the commit before speaks another protocol or has another disk, and nothing was released")
    return folder


def protocol_of(program: Path) -> list[str]:
    """Return the formats that a program sends and stores: the tables of its PROTOCOL.md, and the version of its disk
    format."""
    tables = [line for line in (program / "PROTOCOL.md").read_text().splitlines() if line.startswith("| ")]
    catalog = (program / "store" / "catalog" / "catalog.py").read_text().splitlines()
    return [*tables, *(line for line in catalog if line.startswith("FORMAT"))]


@dataclass
class Searches:
    """The answers that one user saw, who searches all the time at every machine that runs."""

    machines: Sequence[Machine]
    asked: int = 0
    errors: list[str] = field(default_factory=list)
    down: Machine | None = None  # being changed: nobody asks it
    expected: int = 0  # pages that every whole answer has
    short: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)

    def run(self, until: threading.Event) -> None:
        """Ask one machine after the other."""
        turns = cycle(self.machines)
        while not until.wait(EACH_PAUSE_S):
            machine, expected = next(turns), self.expected
            if machine is self.down:
                continue
            try:
                code, body = machine.ask("/api/v1/search", {"q": "opening hours", "deadline_ms": 5000})
            except (URLError, OSError) as error:
                code, body = 0, {"error": str(error)}
            if machine is self.down:  # it was stopped meanwhile
                continue
            self.asked += 1
            if code != 200:
                self.errors.append(f"{machine.home.name}: {code} {body}")
                continue
            if body["partial"]:
                asker = f"{machine.home.name} ({'now' if machine.program == ROOT else 'before'})"
                down = self.down.home.name if self.down else "nobody"
                self.partial.append(f"{asker}, while {down} is changed: {body['coverage']} {body.get('why')}")
            if body["exact"] and body["total"] < expected:
                self.short.append(f"{machine.home.name}: {body['total']} of {expected}, exact")

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Search until the end of the block."""
        until = threading.Event()
        thread = threading.Thread(target=self.run, args=(until,))
        thread.start()
        try:
            yield
        finally:
            until.set()
            thread.join()

    def change(self, machine: Machine, program: Path) -> None:
        """Install another version on a machine, and wait until it has all that it should."""
        self.down = machine
        machine.stop()
        machine.program = program
        machine.start()
        wait_until(f"{machine.home.name} has all", lambda: is_ready(machine), 90)
        self.down = None


def is_ready(machine: Machine) -> bool:
    """Whether a machine serves all slots that it owns."""
    slots = machine.status()["slots"]
    return bool(slots["owned"]) and slots["ready"] >= slots["owned"]


def finds(machine: Machine, pages: int) -> bool:
    code, body = machine.ask("/api/v1/search", {"q": "opening hours", "deadline_ms": 5000})
    return code == 200 and body["total"] == pages and not body["partial"]


def handed_in(town: Village, host: str, machine: Machine) -> None:
    """Have a machine crawl a host."""
    machine.do("crawl", f"http://{host}:{town.port}/{host[:4]}{TITLES[1]}.html", "--depth", "50", "--scope", "host")


def crawled(town: Village, host: str, machines: Sequence[Machine], pages: int) -> None:
    """Hand a host in, and wait until every machine finds all pages."""
    handed_in(town, host, machines[0])
    for machine in machines:
        wait_until(f"{machine.home.name} finds {pages}", lambda m=machine: finds(m, pages), 120)


def whole(machines: Sequence[Machine]) -> set[int]:
    """How many copies each page has, over all machines: one number where none is lost."""
    held = [machine.status()["documents"] for machine in machines]
    return {sum(held)}


@contextmanager
def network_of(tmp_path: Path, program: Path, first_port: int, nodes: int) -> Iterator[tuple[Village, list[Machine]]]:
    """A network that was made and is run by some version."""
    with village(tmp_path, WEB, first_port, most=nodes) as town:
        contacts = [f"127.0.0.1:{port}" for port in town.ports[-1:-4:-2]]
        words = [word for contact in contacts for word in ("--bootstrap", contact)]
        made = dse_node("network", "new", "campus", "--out", "campus.toml", *words, home=tmp_path, program=program)
        assert made.returncode == 0, made.stderr
        machines = [town.add(f"m{number}", program=program) for number in range(nodes)]
        start_all(machines)
        yield town, machines


@pytest.mark.prove
def test_nine_nodes_are_upgraded_and_taken_back_one_by_one(tmp_path: Path) -> None:
    old = before(tmp_path / "before")
    with network_of(tmp_path, old, 24500, NODES) as (town, machines):
        each = len(TITLES)
        crawled(town, HOSTS[0], machines, each)
        searches = Searches(machines, expected=each)
        with searches.going_on():
            for machine in machines[: NODES // 2]:
                searches.change(machine, ROOT)
            handed_in(town, HOSTS[1], machines[0])  # a newer one; kept by both
            wait_until("every page has three copies", lambda: whole(machines) == {3 * 2 * each}, 120)
            for machine in machines[NODES // 2 :]:
                searches.change(machine, ROOT)
            crawled(town, HOSTS[2], machines, 3 * each)
            searches.expected = 3 * each
            for machine in machines:
                searches.change(machine, old)
        for machine in machines:
            wait_until(f"{machine.home.name} finds all", lambda m=machine: finds(m, 3 * each), 90)
        assert searches.errors == [] and searches.short == [], searches.asked
        assert searches.asked > 100 and searches.partial == []
        orders = [machine.urls("opening hours") for machine in machines]
        assert all(order == orders[0] for order in orders)
        wait_until("every page has three copies", lambda: whole(machines) == {3 * 3 * each}, 90)
        fetched = town.fetches()
        assert len(fetched) == len(set(fetched)), "no page was fetched twice"


def publish(machine: Machine, home: Path, *changes: str) -> None:
    """Sign the next strategy and hand it to a machine."""
    draft, signed = (f"{kind}-{len(list(machine.home.glob('draft-*')))}.json" for kind in ("draft", "signed"))
    machine.do("strategy", "draft", *changes, "--out", draft)
    machine.do("strategy", "sign", draft, "--key", str(home / "campus.publisher.key"), "--out", signed, "--yes")
    machine.do("strategy", "publish", signed)


@pytest.mark.prove
def test_rules_of_search_that_no_node_knows_are_told_with_the_remedy(tmp_path: Path) -> None:
    with network_of(tmp_path, ROOT, 24600, 3) as (town, machines):
        crawled(town, HOSTS[0], machines, len(TITLES))
        publish(machines[0], tmp_path, "--set", "analyzer=99")
        told = "analyzer 99, in force now, is unknown to this dse-node"
        wait_until("it is told", lambda: any(told in warning for warning in machines[1].status()["warnings"]))
        with urlopen(f"http://127.0.0.1:{machines[1].web_port}/search?q=opening+hours") as page:
            assert told in page.read().decode()
        answer = machines[1].get("/api/v1/search", q="opening hours")
        assert not answer["exact"] and "rules" in {each["reason"] for each in answer["why"]}
