"""Strangers' mistakes and attacks get one clear line and the right code; nothing is lost, and nothing stops."""

import asyncio
import contextlib
import json
import logging
import os
import random
import socket
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from machines import Machine, Village, dse_node, linked, village, wait_until

from bootstrap import load_network
from dht import (
    BadMessage,
    Contact,
    DhtConfig,
    Endpoint,
    Identity,
    NodeId,
    OverlayService,
    OverlaySettings,
    PeerTimeout,
    open_overlay,
    system_clock,
)
from dht.messages import Done
from dht.reachability.attester import AttestMe
from node.cli.main import main
from node.extras.demo.processes import free_ports

pytestmark = pytest.mark.e2e
Spoil = Callable[[Path], None]


def put(name: str, old: str, new: str) -> Spoil:
    """Change a file of the directory."""

    def spoil(data: Path) -> None:
        text = (data / name).read_text()
        assert old in text
        (data / name).write_text(text.replace(old, new, 1))

    return spoil


def write(name: str, content: bytes) -> Spoil:
    return lambda data: (data / name).write_bytes(content) and None


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node that does not run."""
    folder = tmp_path_factory.mktemp("home")
    assert dse_node("init", "--yes", "--data-dir", "node", "--set", "node.web_port=1", home=folder).returncode == 0
    return folder


REFUSED_STARTS: dict[str, tuple[Spoil, int, str]] = {
    "unknown key": (
        put("config.toml", "[node]", "[node]\nweb_prot = 1"),
        78,
        "unknown key node.web_prot; did you mean",
    ),
    "wrong type": (put("config.toml", "web_port = 1", 'web_port = "x"'), 78, "web_port: takes a whole number, not"),
    "out of bounds": (put("config.toml", "web_port = 1", "web_port = 99999"), 78, "node.web_port: 99999 is not a port"),
    "nonsense": (
        put("config.toml", "# max_links = 1000", "max_links = -4"),
        78,
        "crawl.max_links: -4 is not 0 or more",
    ),
    "no TOML": (put("config.toml", "web_port = 1", "web_port = ["), 78, "this is not TOML"),
    "no hosts file": (put("config.toml", '# hosts_file = ""', 'hosts_file = "none"'), 78, "none: No such file"),
    "damaged key": (write("identity.key", b"\xff" * 40), 1, "identity.key: is damaged or no identity file; restore it"),
    "open key": (
        lambda data: (data / "identity.key").chmod(0o644),
        1,
        "other users may read it (mode 644); run: chmod",
    ),
    "no key file": (
        lambda data: swap_for_folder(data / "identity.key"),
        1,
        "identity.key: cannot be read (Is a directory)",
    ),
    "lost key": (
        lambda data: (data / "identity.key").unlink(),
        1,
        "identity.key: is missing, though a node's data is here (founder); put it back from a backup",
    ),
    "open token": (
        lambda data: (data / "admin.token").chmod(0o644),
        1,
        "admin.token: other users may read it (mode 644)",
    ),
    "foreign id": (put("network.toml", 'name = "private"', 'name = "public"'), 78, "network.toml: id: is "),
    "cut network": (lambda data: os.truncate(data / "network.toml", 300), 78, "network.toml: network file: "),
    "no network": (lambda data: (data / "network.toml").unlink(), 78, "network.toml: No such file or directory; give"),
    "newer format": (
        write("format", b"99\n"),
        1,
        "format '99', but this version reads 1; use the version that made it",
    ),
}


def swap_for_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.fixture
def own_logging() -> Iterator[None]:
    """`run` sets up the logging of a process, which here is that of the tests."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before


@pytest.mark.parametrize("what", REFUSED_STARTS)
@pytest.mark.usefixtures("own_logging")
def test_a_start_that_cannot_be_is_one_line(
    home: Path, tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil, code, words = REFUSED_STARTS[what]
    assert not os.system(f"cp -a {home / 'node'} {tmp_path / 'node'}")
    spoil(tmp_path / "node")
    capsys.readouterr()
    assert main(["run", "--data-dir", str(tmp_path / "node")]) == code
    out, error = capsys.readouterr()
    assert out == "" and words in error and error.count("\n") == 1
    assert str(tmp_path / "node") in error or what == "no hosts file"


def text_pages(count: int, size: int) -> dict[str, str]:
    """Pages that do not compress, each linking to the next."""
    return {
        "index.html" if n == 0 else f"p{n}.html": f"<title>p{n}</title><p>{os.urandom(size // 2).hex()}"
        f'<a href="/p{n + 1}.html">next</a>'
        for n in range(count)
    }


WEB = {
    "good.test": linked(["library", "pool", "museum", "canteen"], "good.test", "hang.test"),
    **{
        f"{trap}.test": {
            "index.html": f'<title>{trap}</title><a href="/{trap}.html">in</a>',
            "_site.toml": f'traps = ["{trap}"]',
        }
        for trap in ("drip", "huge", "bomb")
    },
    "hang.test": {"index.html": "never", "_site.toml": "latency_ms = [60000, 0]"},
    "full.test": text_pages(40, 140_000),
}


def refused(machine: Machine, *words: str, code: int = 2) -> str:
    """A verb that is refused with one line."""
    error = machine.do(*words, code=code)
    assert error.count("\n") == 1, error
    return error


def test_a_running_node_shrugs_all_of_it_off(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22000) as town:
        one = town.add("one", "crawl.read_timeout_s=2.0", "crawl.connect_timeout_s=2.0", "crawl.total_timeout_s=4.0")
        assert "no node answers at" in refused(one, "status", code=1)
        one.start()
        busy(town, one)
        hosts = [host for host in WEB if host != "full.test"]
        one.do("crawl", *(f"http://{host}:{town.port}/" for host in hosts), "--depth", "5")
        wrong_questions(one)
        wrong_strategies(one)
        garbage_and_lies(one)
        wait_until("the good site is crawled whatever the others do", lambda: len(one.urls("opening hours")) == 4)
        wait_until("the bad ones are given up", lambda: one.status()["crawl"]["failed"] >= 2)
        open_up(one)
        asyncio.run(lie(one))
        assert len(one.urls("opening hours")) == 4
        one.stop()


def busy(town: Village, one: Machine) -> None:
    """Its directory and its ports are taken."""
    assert one.process
    error = refused(one, "run", code=1)
    assert f"in use by process {one.process.pid}; stop that node first" in error
    two = town.add("two", f"node.web_port={one.web_port}")
    assert f"port {one.web_port}: the port is in use; stop the other program or set node.web_port" in two.do(
        "run", code=1
    )
    third = town.add("three", f"node.peer_port={one.peer_port}")
    assert f"port {one.peer_port}: the port is in use; stop the other program or set node.peer_port" in refused(
        third, "run", code=1
    )


def wrong_questions(one: Machine) -> None:
    """Addresses and queries that are none, by command and over HTTP."""
    error = refused(one, "crawl", "notaurl", code=1)
    remedy = "write http://notaurl/ if it is a host of your own network"
    assert error == f"refused: notaurl: its host has no dot; {remedy}\n"
    assert "only http and https" in refused(one, "crawl", "ftp://a.test/", code=1)
    code, found = one.ask("/api/v1/search", {"q": "pool AND (library"})
    assert code == 200 and found["readings"], "read as well as can be, and it says how"
    assert one.ask("/api/v1/search", {"q": "pool", "limit": "x"})[0] == 400
    assert one.ask("/api/v1/crawl", {}, b"[1")[0] == 400
    assert one.ask("/api/v1/nothing")[0] == 404


def wrong_strategies(one: Machine) -> None:
    """Each is refused with its reason, by command and over HTTP; version 1 stays in force."""
    now = json.loads(one.do("strategy", "show", "--json"))
    plain = {name: value for name, value in now.items() if name not in ("digest", "signed_by", "warnings")}
    following = plain | {"version": 2, "previous": now["digest"]}
    key = str(one.data / "keys" / "private.publisher.key")
    Identity.generate().save(one.home / "stranger.key")
    cases = [
        (following, "stranger.key", "signatures: 0 valid of 1 needed from"),
        (plain | {"replicas": 2}, key, "version: is 1, the next one is 2; draft from"),
        (following | {"version": 5}, key, "version: is 5, we have 1"),
        (following | {"previous": "ab" * 32}, key, "previous: is 'abab"),
        (following | {"effective_at": 1, "next_at": 2, "expires_at": 3}, key, "expires_at: is past"),
        (following | {"network": "ab" * 20}, key, "network: is 'abab"),
    ]
    for draft, signer, words in cases:
        (one.home / "draft.json").write_text(json.dumps(draft))
        signed = one.home / "signed.json"
        key_file = str(one.home / signer)  # an absolute one stays as it is
        draft_file = str(one.home / "draft.json")
        assert main(["strategy", "sign", draft_file, "--key", key_file, "--out", str(signed), "--yes"]) == 0
        code, problem = one.ask("/api/v1/strategy", {}, signed.read_bytes())
        assert code == 400 and words in problem["detail"], problem
    assert words in refused(one, "strategy", "publish", str(signed))
    assert one.ask("/api/v1/strategy", {}, b"{}")[0] == 400
    assert one.get("/api/v1/strategy")["version"] == 1


def garbage_and_lies(one: Machine) -> None:
    """Bytes that are no packets, no TLS, no request; and a peer that says it is this very node."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for n in range(200):
            sender.sendto(os.urandom(n * 6), ("127.0.0.1", one.peer_port))
    for noise in (b"", os.urandom(4096), b"GET / HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", one.peer_port), 5) as raw, contextlib.suppress(OSError):
            raw.sendall(noise)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", one.peer_port), 5) as raw:
        raw.settimeout(5)
        with context.wrap_socket(raw) as wrapped:
            wrapped.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n" + os.urandom(2000))
            assert b" 200 " not in wrapped.recv(100)
    wait_until("refusals are counted", lambda: sum(one.status()["refused_packets"].values()) >= 100, 10)
    assert one.status()["members"] == 1


def open_up(one: Machine) -> None:
    """From version 2 on members need no invitation, so that a liar gets as far as any."""
    now = json.loads(one.do("strategy", "show", "--json"))
    draft = {name: value for name, value in now.items() if name not in ("digest", "signed_by", "warnings")}
    draft |= {"version": 2, "previous": now["digest"], "admission": "attested"}
    (one.home / "draft.json").write_text(json.dumps(draft))
    key, signed = str(one.data / "keys" / "private.publisher.key"), str(one.home / "signed.json")
    assert main(["strategy", "sign", str(one.home / "draft.json"), "--key", key, "--out", signed, "--yes"]) == 0
    one.do("strategy", "publish", signed)


async def lie(one: Machine) -> None:
    """A whole node that says it is the very one that it talks to: it is known by its key, and no member."""
    victim = one.status()["node_id"]
    liar = Identity.generate()
    liar.node_id = NodeId(bytes.fromhex(victim))
    port = free_ports(1, 22900)[0]
    place = OverlaySettings((Endpoint("127.0.0.1", port, port),), one.home)
    network, config, rng = load_network(one.data / "network.toml"), DhtConfig(allow_private=True), random.Random(1)
    with ThreadPoolExecutor(1) as files:
        overlay = open_overlay(liar, network, config, place, system_clock, rng, files)
        there = Endpoint("127.0.0.1", one.peer_port, one.peer_port)
        overlay.join([there.udp])
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(overlay.run())
            await refused_as_liar(overlay, Contact(NodeId(bytes.fromhex(victim)), (there,)))
            running.cancel()
    peers = one.get("/api/v1/peers")["peers"]
    assert {peer["node_id"]: peer["self"] for peer in peers} == {victim: True}


async def refused_as_liar(overlay: OverlayService, by: Contact) -> None:
    """Ask to be reached, until the answer is that nobody with its key is there."""
    while True:
        with contextlib.suppress(PeerTimeout):
            try:
                await overlay.ask_at(by, AttestMe(overlay._core.own.raw), Done, timeout_s=12.0)
            except BadMessage as error:
                if "from TCP" in str(error):
                    return
        await asyncio.sleep(1.0)


SMALL = ("store.quota_bytes=8000000", "crawl.max_body_bytes=150000", "crawl.max_text_chars=20000")


def test_a_full_disk_stops_the_crawl_and_nothing_else(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 22200) as town:
        one = town.add("one", *SMALL)
        one.start()
        one.do("crawl", f"http://full.test:{town.port}/", "--depth", "100")
        wait_until("it says so", lambda: one.status()["crawl"]["state"] == "paused")
        done = dse_node("status", "--data-dir", "node", home=one.home)
        assert done.returncode in (0, 3), "3 where a write met the quota before the crawler paused for it"
        status = done.stdout
        assert "paused (no room for new pages: " in status and "raise store.quota_bytes or free some space" in status
        wait_until("it has indexed some", lambda: one.status()["documents"] > 1)
        kept = one.status()["documents"]
        assert kept < 40 and one.status()["disk"]["used"] <= 8_000_000
        assert len(one.urls("p0")) == 1, "it answers"
        wait_until("its log says so", lambda: "crawl stopped reason=no room" in one.log)
        assert one.log.count("crawl stopped reason=no room") == 1 and one.log.count("not kept") <= 1
        one.stop()
        config = one.data / "config.toml"
        config.write_text(config.read_text().replace("quota_bytes = 8000000", "quota_bytes = 100000000"))
        one.start()
        wait_until("with more room it goes on", lambda: one.status()["documents"] > kept)
