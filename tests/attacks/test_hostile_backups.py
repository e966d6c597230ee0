"""Backups that a stranger made to do harm, byte by byte, and signed with the stranger's own key. They restore records
and limits, and nothing that runs, opens or sends."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest

from dht import Identity
from dht.identity.node_key import HEADER
from node.backup import sealed_secrets
from node.backup.node_backup import restore
from node.backup.sealed_secrets import seal
from node.cli.main import main
from node.config.data_dir import DataDir
from node.config.settings import Config, load_config
from node.errors import BadBackup
from node.strategy.founding import make_network

SEED = bytes(range(32))
STRANGER = Identity(SEED)
KEY = f"{HEADER}\n{SEED.hex()}\n{STRANGER.public_key.hex()}\n".encode()
WORDS = "a phrase that came with it"
HOOK = '[hook]\ncommand = ["/bin/sh", "-c", "touch /tmp/ran"]\nurl = "https://evil.example/h?key=1"\n'
OPENING = (
    '[node]\nweb_address = "0.0.0.0"\nlisten_v4 = "192.0.2.1"\nweb_trusted_proxies = ["0.0.0.0/0"]\npeer_port = 22\n'
    'web_names = ["evil.example"]\nweb_origins = ["*"]\nseed_url = "https://evil.example/n.toml"\ndata_dir = "/tmp/x"\n'
    'network = "/tmp/n.toml"\nsite_rules = "/etc/passwd"\n'
    '[dht]\nallow_private = true\nannounce_v4 = "192.0.2.7"\n'
    '[traces]\nurl = "https://evil.example/t"\n'
    '[crawl]\nallow_private = true\nhosts_file = "/tmp/hosts"\nagent = "evil"\ninfo_url = "https://evil.example/"\n'
    'key_directory = "https://evil.example"\ntxt_servers = ["192.0.2.9"]\n'
)
LIMITS = (
    "[store]\nquota_bytes = 7000000000\n"
    '[crawl]\nmax_bytes_s = 50000.0\nhours = "22:00-07:00"\nmin_delay_s = 3.0\nrefuse = ["*.example.org"]\n'
    "max_open_fetches = 8\n"
)
Member = tuple[str, bytes]


def header(name: str, size: int, kind: bytes = b"0", link: str = "") -> bytes:
    """One header of a tar, as POSIX.1-1988 has it; a size that needs more than eleven octal digits as GNU writes it."""
    length = b"%011o\0" % size if 0 <= size < 1 << 33 else size.to_bytes(12, "big", signed=True)
    if size >= 1 << 33:
        length = b"\x80" + length[1:]
    fields = [name.encode().ljust(100, b"\0"), b"0000600\0", b"0000000\0", b"0000000\0", length, b"00000000000\0"]
    head = b"".join([*fields, b" " * 8, kind, link.encode().ljust(100, b"\0"), b"ustar\x0000"]).ljust(512, b"\0")
    return head[:148] + b"%06o\0 " % sum(head) + head[156:]


def member(name: str, data: bytes, kind: bytes = b"0", link: str = "") -> bytes:
    return header(name, len(data), kind, link) + data + bytes(-len(data) % 512)


def signed(files: Iterable[Member], tar: bytes | None = None, made_at: int = 1_800_000_000) -> bytes:
    """A whole backup of these files; `tar`: what lies in it instead, with the manifest still that of `files`."""
    files = list(files)
    entries = {name: {"size": len(data), "sha256": sha256(data).hexdigest()} for name, data in files}
    manifest = {"format": 1, "made_at": made_at, "public_key": STRANGER.public_key.hex(), "files": entries}
    raw = json.dumps(manifest).encode()
    signature = STRANGER.sign(b"node backup", sha256(raw).digest())
    held = b"".join(member(name, data) for name, data in files) if tar is None else tar
    return held + member("manifest.json", raw) + member("manifest.signature", signature) + bytes(1024)


def with_secrets(files: Iterable[Member], secrets: dict[str, bytes] | None = None) -> list[Member]:
    """The files beside a sealed part, whose pass phrase the stranger gives along."""
    return [*files, ("secrets.sealed", seal({"identity.key": KEY} | (secrets or {}), WORDS, STRANGER.public_key))]


FORMAT = ("format", b"1\n")


@pytest.fixture(autouse=True)
def _little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guess of a pass phrase costs little here; `test_sealed_secrets` pays the real price."""
    monkeypatch.setattr(sealed_secrets, "COST", 1 << 4)


@pytest.mark.parametrize("pass_phrase", [None, WORDS])
@pytest.mark.parametrize(
    "name",
    [
        *("admin.token", "owner-told", "wishes", "leaving", "lock", "invitation", "founder", "identity.key"),
        *("identity.puzzle", "evidence", "hooks/run", "keys/club.publisher.key", "vouchers/ab", "index/meta.json"),
        *("../x", "/etc/x", "./format", "dht/../admin.token", "store//segment-00000001", "Format", "hosts.JSON"),
        *("store/catalog.sqlite-wal", "store/catalog.sqlite-journal", "store/segment-1", "store/segment-000000001"),
        *("store/segment-٠٠٠٠٠٠٠١", "dht/peers.bin/x", "dht/strategy/run.sh", "dht/other", "dht", "format/", ""),
    ],
)
def test_a_file_that_no_backup_has_is_refused_by_its_name(tmp_path: Path, name: str, pass_phrase: str | None) -> None:
    data = signed(with_secrets([FORMAT, (name, b"x" * 40)]))
    with pytest.raises(BadBackup, match="no backup has") as refused:
        restore(BytesIO(data), tmp_path / "new", "it", pass_phrase)
    assert repr(name.rstrip("/") if name.endswith("/") else name)[1:-1] in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name",
    [
        *("admin.token", "owner-told", "wishes", "hosts.json", "network.toml", "format", "../x", "/tmp/x", "keys/../x"),
        *("keys", "keys/a/b/c", "keys/..", "keys/./a", "vouchers/../../x", "dht/peers.bin", "hooks/run", "Founder", ""),
    ],
)
def test_a_secret_that_no_backup_has_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    data = signed(with_secrets([FORMAT], {name: b"x" * 40}))
    with pytest.raises(BadBackup, match="no backup has") as refused:
        restore(BytesIO(data), tmp_path / "new", "it", WORDS)
    assert name in str(refused.value) and not list(tmp_path.iterdir())


def test_a_file_without_a_name_hides_no_other(tmp_path: Path) -> None:
    sealed = seal({"": b"x", "../x": b"x", "identity.key": KEY}, WORDS, STRANGER.public_key)
    with pytest.raises(BadBackup, match="no backup has"):
        restore(BytesIO(signed([FORMAT, ("secrets.sealed", sealed)])), tmp_path / "new", "it", WORDS)
    listed = signed([("", b"x"), FORMAT, ("hosts.json", b"{}")], member(*FORMAT) + member("hosts.json", b"[]"))
    with pytest.raises(BadBackup, match="changed or damaged"):
        restore(BytesIO(listed), tmp_path / "new", "it")
    assert not list(tmp_path.iterdir())


def test_secrets_that_are_no_text_and_a_key_that_is_missing_are_refused(tmp_path: Path) -> None:
    for secrets, reason in (
        ({"identity.key": KEY, "founder": b"\xff"}, "is not text"),
        ({"founder": b"x"}, "holds no identity.key"),
        ({"identity.key": Identity.generate().public_key}, "is not text|damaged"),
    ):
        sealed = seal(secrets, WORDS, STRANGER.public_key)
        with pytest.raises(BadBackup, match=reason):
            restore(BytesIO(signed([FORMAT, ("secrets.sealed", sealed)])), tmp_path / "new", "it", WORDS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"S", b"x", b"g", b"L", b"K", b"V", b"D"])
def test_links_devices_folders_and_sparse_files_are_refused(tmp_path: Path, kind: bytes) -> None:
    body = b"22 GNU.sparse.major=1\n" if kind in b"xg" else b""
    tar = member(*FORMAT) + member("hosts.json", body, kind, "/etc/passwd") + member("hosts.json", b"{}")
    with pytest.raises(BadBackup, match=r"hosts\.json.* no backup has"):
        restore(BytesIO(signed([FORMAT, ("hosts.json", b"{}")], tar)), tmp_path / "new", "it")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["old GNU", "PAX"])
def test_a_sparse_file_of_ten_kilobytes_does_not_become_three_gigabytes(tmp_path: Path, form: str) -> None:
    name, real_bytes, data = "store/segment-00000001", 3 << 30, b"x" * 512
    if form == "PAX":
        records = [("major", "1"), ("minor", "0"), ("name", name), ("realsize", str(real_bytes))]
        lines = b"".join(b"%d GNU.sparse.%s=%s\n" % (len(k) + len(v) + 16, k.encode(), v.encode()) for k, v in records)
        tar = member("hosts.json", lines, b"x") + member(name, b"1\n0\n512\n".ljust(512, b"\0") + data)
    else:
        head = bytearray(header(name, len(data), b"S"))
        head[386:410] = b"%011o\0%011o\0" % (real_bytes - len(data), len(data))
        head[483:495] = b"%011o\0" % real_bytes
        head[148:156] = b"%06o\0 " % sum(head[:148] + b" " * 8 + head[156:])
        tar = bytes(head) + data
    with pytest.raises(BadBackup, match="no backup has"):
        restore(BytesIO(signed([FORMAT, (name, data)], member(*FORMAT) + tar)), tmp_path / "new", "it")
    assert not list(tmp_path.iterdir())


def test_a_file_that_comes_twice_and_one_behind_the_manifest_are_refused(tmp_path: Path) -> None:
    twice = signed([FORMAT], member(*FORMAT) * 2)
    behind = signed([FORMAT])[:-1024] + member("hosts.json", b"{}") + bytes(1024)
    for data in (twice, behind):
        with pytest.raises(BadBackup, match="no backup has"):
            restore(BytesIO(data), tmp_path / "new", "it")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [1 << 50, 1 << 80, -512, -(1 << 40)])
def test_a_declared_size_is_judged_before_anything_is_written(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: pytest.fail("something is written"))
    data = header("store/segment-00000001", size) + b"x" * 512
    with pytest.raises(BadBackup, match="are free" if size > 0 else "no backup has"):
        restore(BytesIO(data), tmp_path / "new", "it")
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_before_the_whole_file_was_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(signed([FORMAT, ("store/segment-00000001", b"x" * 5000)]))
    data[data.index(b"x" * 100)] ^= 1
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: pytest.fail("something is written"))
    with pytest.raises(BadBackup, match="changed or damaged"):
        restore(BytesIO(bytes(data)), tmp_path / "new", "it")


def restored(tmp_path: Path, config: str, pass_phrase: str | None = None, *, sealed: bool = False) -> Config:
    files = [FORMAT, *([] if sealed else [("config.toml", config.encode())])]
    secrets = {"config.toml": config.encode()} if sealed else {}
    restore(BytesIO(signed(with_secrets(files, secrets))), tmp_path / "new", "it", pass_phrase)
    return load_config(tmp_path / "new" / "config.toml")


@pytest.mark.parametrize(("pass_phrase", "sealed"), [(None, False), (WORDS, False), (WORDS, True)])
def test_no_setting_that_runs_opens_or_sends_is_taken_over_unasked(
    tmp_path: Path, pass_phrase: str | None, sealed: bool
) -> None:
    assert restored(tmp_path, HOOK + OPENING, pass_phrase, sealed=sealed) == Config()


def test_without_the_identity_the_limits_alone_are_taken_over(tmp_path: Path) -> None:
    others = '[node]\nmode = "client"\nlog_level = "debug"\nweb_port = 8190\n[index]\nengine = "whoosh"\n'
    found = restored(tmp_path, LIMITS + others)
    assert (found.store.quota_bytes, found.crawl.max_bytes_s) == (7_000_000_000, 50_000.0)
    assert (found.crawl.hours, found.crawl.min_delay_s, found.crawl.refuse) == ("22:00-07:00", 3.0, ("*.example.org",))
    assert found.crawl.max_open_fetches == 8
    assert (found.node, found.index) == (Config().node, Config().index)


def test_a_strangers_limits_make_no_node_impolite(tmp_path: Path) -> None:
    loose = "[crawl]\nmin_delay_s = 0.0\naddress_delay_s = 0.0\nlatency_factor = 0.0\nmax_open_per_address = 1000\n"
    loose += "max_crawl_delay_s = 0.0\nmax_body_bytes = 100000000000\nrobots_ttl_s = 1e9\nparser_processes = 0\n"
    assert restored(tmp_path, loose) == Config()


def test_a_link_where_the_draft_is_written_leads_nowhere(tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "file").write_text("kept")
    (tmp_path / "new.restoring").symlink_to(elsewhere)
    with pytest.raises(BadBackup, match="remove it"):
        restore(BytesIO(signed([FORMAT])), tmp_path / "new", "it")
    assert [path.name for path in elsewhere.iterdir()] == ["file"] and not (tmp_path / "new").exists()


def test_the_token_is_new(tmp_path: Path) -> None:
    tokens = set[str]()
    for number in range(2):
        restore(BytesIO(signed([FORMAT])), tmp_path / str(number), "it")
        tokens.add(DataDir(tmp_path / str(number)).read_token())
    assert len(tokens) == 2


def test_an_index_with_a_trigger_or_a_view_is_refused(tmp_path: Path) -> None:
    for statement in ("CREATE VIEW a AS SELECT 1", "CREATE TRIGGER a AFTER INSERT ON t BEGIN DELETE FROM t; END"):
        path = tmp_path / "index"
        with closing(sqlite3.connect(path)) as made, made:
            made.execute("CREATE TABLE t (x)")
            made.execute(statement)
        data = signed([FORMAT, ("store/catalog.sqlite", path.read_bytes())])
        path.unlink()
        with pytest.raises(BadBackup, match=r"catalog\.sqlite"):
            restore(BytesIO(data), tmp_path / "new", "it")
    assert not list(tmp_path.iterdir())


def test_a_network_file_that_is_none_is_refused(tmp_path: Path) -> None:
    text = make_network("club", tmp_path.parent / "club")[0].replace('name = "club"', 'name = "clubs"')
    with pytest.raises(BadBackup, match=r"network\.toml.* id"):
        restore(BytesIO(signed([FORMAT, ("network.toml", text.encode())])), tmp_path / "new", "it")
    assert not list(tmp_path.iterdir())


def test_what_a_stranger_wrote_reaches_no_terminal_raw(tmp_path: Path) -> None:
    tar, network = member(*FORMAT), b'name = "\x9b\xc2\x9b31m"\n'
    for data in (
        signed([FORMAT, ("\x1b[31m", b"x")], tar),
        signed([("\x1b[31m", b"x")]),
        signed([FORMAT, ("network.toml", network)]),
        signed([FORMAT, ("network.toml", b'\x1b]0;x = "')]),
        signed([FORMAT, ("config.toml", '["\u009b31m"]\nx = 1\n'.encode())]),
    ):
        with pytest.raises(BadBackup) as refused:
            restore(BytesIO(data), tmp_path / "new", "it")
        assert str(refused.value).isprintable()


def test_any_instant_in_the_manifest_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "it.dse"
    file.write_bytes(signed([FORMAT], made_at=1 << 62))
    assert main(["restore", str(file), str(tmp_path / "new")]) == 0
    assert "files in" in capsys.readouterr().out
