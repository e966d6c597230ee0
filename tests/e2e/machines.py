"""A few machines of people who make a network of their own, each a folder and the command `dse-node` in it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from node.cli.main import main
from node.extras.demo.processes import free_ports

ROOT = Path(__file__).parents[2]
STOPS_WITHIN_S = 8.0
Json = dict[str, Any]


def dse_node(*words: str, home: Path, within_s: float = 40, program: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """The command, as somebody types it at home; `program`: the folder of the version that is installed there."""
    command, around = [sys.executable, "-m", "node", *words], _environment(home, program)
    return subprocess.run(command, cwd=home, env=around, capture_output=True, text=True, timeout=within_s)


def verb(*words: str, home: Path) -> tuple[int, str, str]:
    """The command as `dse_node` gives it, in this process, which spares a start of Python: code, output, errors."""
    out, errors = StringIO(), StringIO()
    with chdir(home), redirect_stdout(out), redirect_stderr(errors):
        try:
            code = main(list(words))
        except SystemExit as ended:
            code = int(str(ended.code or 0))
    return code, out.getvalue(), errors.getvalue()


def wait_until(what: str, is_so: Callable[[], object], within_s: float = 150) -> float:
    """Ask again until it is so; the seconds that it took. A test of a promise names its limit; others give a slow or
    busy machine time, which costs nothing elsewhere."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < within_s, f"not within {within_s:.0f} s: {what}"
        time.sleep(0.15)
    return time.monotonic() - began


@dataclass
class Machine:
    """One node of one person, on ports of its own."""

    home: Path
    peer_port: int
    web_port: int
    program: Path = ROOT
    process: "subprocess.Popen[bytes] | None" = None
    files: int = 0  # that it may open; 0: as many as this process
    entry: Sequence[str] = ("-m", "node")  # the program that Python runs

    @property
    def data(self) -> Path:
        return self.home / "node"

    @property
    def log(self) -> str:
        return (self.home / "log").read_text()

    def do(self, *words: str, code: int = 0) -> str:
        """A verb for this node; its standard output, or where it should fail its standard error."""
        ended, out, errors = self.ended(*words)
        assert ended == code, f"{words}: {ended}\n{out}{errors}"
        return out if code == 0 else errors

    def ended(self, *words: str) -> tuple[int, str, str]:
        """The code of a verb for this node, its standard output and its standard error."""
        words = (*words, "--data-dir", "node")
        if self.program == ROOT and words[0] != "run":
            return verb(*words, home=self.home)
        done = dse_node(*words, home=self.home, program=self.program)
        return done.returncode, done.stdout, done.stderr

    def start(self) -> None:
        """`dse-node run`; returns when the page is there."""
        self.begin()
        wait_until(f"{self.home.name} answers", self.is_up)

    def begin(self) -> None:
        """`dse-node run`."""
        with (self.home / "log").open("ab") as log:
            command = [sys.executable, *self.entry, "run", "--data-dir", "node"]
            if self.files:
                command = ["sh", "-c", f'ulimit -n {self.files}; exec "$@"', "sh", *command]
            self.process = subprocess.Popen(
                command,
                cwd=self.home,
                env=_environment(self.home, self.program),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def is_up(self) -> bool:
        assert self.process and self.process.poll() is None, self.log
        try:
            return bool(self.status())
        except URLError:
            return False

    def stop(self) -> None:
        """SIGTERM, as a service manager stops it: clean, and soon."""
        assert self.process
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(STOPS_WITHIN_S + 10) == 0, self.log
        assert time.monotonic() - began < STOPS_WITHIN_S
        assert "Traceback" not in self.log

    def kill(self) -> None:
        """SIGKILL for it and its parsers, without warning."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def get(self, path: str, **query: str | int) -> Json:
        code, body = self.ask(path, query)
        assert code == 200, body
        return body

    def ask(self, path: str, query: Mapping[str, str | int] = {}, body: bytes | None = None) -> tuple[int, Json]:
        """One request with this node's token: the status and the JSON."""
        url = f"http://127.0.0.1:{self.web_port}{path}" + (f"?{urlencode(query)}" if query else "")
        token = (self.data / "admin.token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            with urlopen(Request(url, body, headers), timeout=20) as answer:
                return answer.status, json.loads(answer.read())
        except HTTPError as error:
            return error.code, json.loads(error.read())

    def status(self) -> Json:
        return self.get("/api/v1/status")

    def urls(self, query: str) -> list[str]:
        """A search's results in their order."""
        return [result["url"] for result in self.get("/api/v1/search", q=query, deadline_ms=5000)["results"]]

    def is_quiet(self) -> bool:
        status = self.status()
        return status["alike"] and status["crawl"]["frontier"] == 0 and status["crawl"]["open"] == 0


def start_all(machines: Sequence[Machine]) -> None:
    """All at once, as after a power cut."""
    for machine in machines:
        machine.begin()
    for machine in machines:
        wait_until(f"{machine.home.name} answers", machine.is_up)


@dataclass
class Village:
    """The machines, and the web that they crawl."""

    folder: Path
    port: int
    ports: list[int]
    machines: list[Machine] = field(default_factory=list)

    def add(
        self, name: str, *settings: str, program: Path = ROOT, network: Path | None = None, invitation: str = ""
    ) -> Machine:
        """A new machine, with `init` done: loopback alone, no DNS. `network`: the file that it is given."""
        home = self.folder / name
        home.mkdir()
        peer_port, web_port = self.ports.pop(), self.ports.pop()
        machine = Machine(home, peer_port, web_port, program)
        self.machines.append(machine)
        pairs = [
            *(f"node.peer_port={peer_port}", f"node.web_port={web_port}"),
            *("node.listen_v4=127.0.0.1", "node.listen_v6=::1", "dht.allow_private=true"),
            *("crawl.allow_private=true", f"crawl.hosts_file={self.folder / 'hosts'}", "crawl.dns=false"),
            *("crawl.min_delay_s=0.05", "store.reconcile_every_s=20.0", *settings),
        ]
        file = network or self.folder / "campus.toml"
        given = ["--network", str(file)] if file.exists() else []
        given += ["--invitation", invitation] if invitation else []
        machine.do("init", "--yes", *given, *(word for pair in pairs for word in ("--set", pair)))
        return machine

    def fetches(self) -> list[str]:
        """Return the pages that the web was asked for, in order, without robots.txt and sitemaps."""
        lines = (json.loads(line) for line in (self.folder / "web.jsonl").read_text().splitlines())
        urls = (f"http://{line['host']}{line['path']}" for line in lines)
        return [url for url in urls if "/robots.txt" not in url and "sitemap" not in url]


@contextmanager
def village(folder: Path, pages: Mapping[str, Mapping[str, str]], first_port: int, most: int = 5) -> Iterator[Village]:
    """Serve `pages` (host → path → text, PORT being the web's) and end every process on the way out."""
    ports = free_ports(2 + 2 * most, first_port)
    port = ports.pop(0)
    for host, files in pages.items():
        for path, text in files.items():
            file = folder / "web" / host / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("PORT", str(port)))
    command = [sys.executable, "-m", "node.extras.demo.sample_web", "--root", str(folder / "web"), "--port", str(port)]
    command += ["--admin-port", str(ports.pop(0)), "--log", str(folder / "web.jsonl")]
    web = subprocess.Popen(
        [*command, "--hosts-file", str(folder / "hosts")],
        env=_environment(folder, ROOT),
        stdout=subprocess.PIPE,
        text=True,
    )
    found = Village(folder, port, ports)
    try:
        assert web.stdout and f"on port {port}" in web.stdout.readline()
        yield found
    finally:
        for machine in found.machines:
            machine.kill()
        web.terminate()
        web.communicate()


def linked(titles: Sequence[str], host: str, other: str) -> dict[str, str]:
    """Pages about these things, each linking to the next and to the other host."""
    pages: dict[str, str] = {}
    for n, title in enumerate(titles):
        name = "index.html" if n == 0 else f"{title}.html"
        following = f"/{titles[(n + 1) % len(titles)]}.html" if n + 1 < len(titles) else "/"
        pages[name] = (
            f"<html><head><title>About {title}</title></head><body><h1>{title}</h1><p>Opening hours of the {title},"
            f' as {host} has them.</p><a href="{following}">next</a> <a href="http://{other}:PORT/">there</a></body></html>'
        )
    return pages


def _environment(home: Path, program: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(home), "PYTHONPATH": str(program), "PYTHONUNBUFFERED": "1"}
