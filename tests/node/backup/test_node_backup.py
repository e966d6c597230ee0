"""A backup gives the same node, or another one with its records; one that was cut or changed gives nothing."""

import asyncio
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from dht import Identity
from node.backup.node_backup import back_up, restore
from node.backup.sealed_secrets import seal
from node.config.data_dir import DataDir, write_secret
from node.errors import BadBackup
from store import Kind, RecordStore
from tests.store.support import CONFIG, StillClock, draft, records

WORDS = "correct horse battery staple"
FIRST, LAST = bytes(20), b"\xff" * 20


def stored(folder: Path) -> dict[bytes, bytes | None]:
    store = RecordStore.open(folder, CONFIG, StillClock())
    try:
        return {record.id: record.content for record in store.scan(Kind.DOCUMENT, FIRST, LAST, content=True)}
    finally:
        store.close()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> DataDir:
    data = DataDir(tmp_path_factory.mktemp("node") / "data")
    data.create()
    Identity.generate().save(data.identity)
    data.config.write_text("[node]\nweb_port = 8190\n")
    (data.dht / "strategy").mkdir()
    (data.dht / "strategy" / "000002.json").write_text("{}")
    data.invite("seven words")
    (data.keys / "campus").mkdir()
    write_secret(data.keys / "campus" / "online.key", "publisher")
    store = RecordStore.open(data.store, CONFIG, StillClock())
    asyncio.run(store.put(records(*(draft(n) for n in range(50)))))
    store.close()
    return data


def backup(node: DataDir, pass_phrase: str | None = None) -> bytes:
    file = BytesIO()
    back_up(node, file, 1_800_000_000, pass_phrase)
    return file.getvalue()


def test_secrets_that_a_stranger_closed_are_written_nowhere_else(
    node: DataDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as made:
        made.setattr("node.backup.node_backup.seal", lambda _, words, key: seal({"../escaped": b"x"}, words, key))
        data = backup(node, WORDS)
    with pytest.raises(BadBackup, match="escaped"):
        restore(BytesIO(data), tmp_path / "new", "it", WORDS)
    assert not list(tmp_path.iterdir())


def test_with_its_identity_it_is_the_same_node(node: DataDir, tmp_path: Path) -> None:
    data = backup(node, WORDS)
    assert node.identity.read_bytes().split(b"\n")[1] not in data and b"seven words" not in data
    done = restore(BytesIO(data), tmp_path / "new", "it", WORDS)
    new = DataDir(tmp_path / "new")
    new.check()
    assert done.is_same and new.identity.read_bytes() == node.identity.read_bytes()
    assert (new.invitation.read_text(), new.config.read_text()) == ("seven words\n", node.config.read_text())
    assert (new.keys / "campus" / "online.key").read_text() == "publisher"
    assert (new.dht / "strategy" / "000002.json").read_text() == "{}"
    assert new.read_token() != node.read_token()
    assert stored(new.store) == stored(node.store) != {}
    assert (new.dht / "votes.json").exists(), "it ran before, so it abstains at first"
    assert not list(tmp_path.glob("*.restoring")) and not list(node.root.glob("*.new"))


def test_without_it_it_is_another_node_with_the_records(node: DataDir, tmp_path: Path) -> None:
    for number, data in enumerate((backup(node), backup(node, WORDS))):
        done = restore(BytesIO(data), tmp_path / str(number), "it")
        new = DataDir(tmp_path / str(number))
        assert not done.is_same and Identity.load(new.identity).node_id.hex() == done.node_id
        assert stored(new.store) == stored(node.store)
        assert not (new.invitation.exists() or list(new.keys.iterdir()) or (new.root / "secrets.sealed").exists())


def test_all_that_is_restored_is_its_owners_alone(node: DataDir, tmp_path: Path) -> None:
    restore(BytesIO(backup(node, WORDS)), tmp_path / "new", "it", WORDS)
    secret = [path for path in (tmp_path / "new").rglob("*") if path.is_file() and path.parent.name != "store"]
    assert len(secret) > 5
    for path in secret:
        assert path.name == "format" or path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize(
    ("pass_phrase", "wanted", "reason"),
    [
        (None, WORDS, "holds no identity"),
        (WORDS, WORDS + "!", "does not open with this passphrase"),
    ],
)
def test_an_identity_needs_its_pass_phrase(
    node: DataDir, tmp_path: Path, pass_phrase: str | None, wanted: str, reason: str
) -> None:
    with pytest.raises(BadBackup, match=reason):
        restore(BytesIO(backup(node, pass_phrase)), tmp_path / "new", "it", wanted)
    assert not list(tmp_path.iterdir())
    with pytest.raises(BadBackup, match="shorter than 12"):
        backup(node, "short")


def test_one_that_was_cut_or_changed_anywhere_is_refused(node: DataDir, tmp_path: Path) -> None:
    data, rng = backup(node, WORDS), Random(7)
    end = data.rindex(b"manifest.signature") + 512 + 64
    lengths = [0, 1, 511, 512, 1024, end - 1, end - 64, *(rng.randrange(end) for _ in range(40))]
    for length in lengths:
        with pytest.raises(BadBackup, match=r"ends early|damaged|changed|which no backup has"):
            restore(BytesIO(data[:length]), tmp_path / "new", "it")
    for place in [rng.randrange(end) for _ in range(200)]:
        changed = data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]
        try:
            done = restore(BytesIO(changed), tmp_path / f"at{place}", "it")
        except BadBackup:
            continue
        assert done.manifest.made_at == 1_800_000_000
        assert stored(tmp_path / f"at{place}" / "store") == stored(node.store), "padding, times and owners in headers"
    assert not (tmp_path / "new").exists() and not list(tmp_path.glob("*.restoring"))


def test_a_name_that_leads_out_of_the_directory_and_a_directory_in_use_are_refused(
    node: DataDir, tmp_path: Path
) -> None:
    data = backup(node)
    for name in ("../ormat", "/ormat", "a/../b"):
        with pytest.raises(BadBackup):
            restore(BytesIO(data.replace(b"format\0\0\0\0", name.encode().ljust(10, b"\0"), 1)), tmp_path / "new", "it")
    with pytest.raises(BadBackup, match="not empty"):
        restore(BytesIO(data), node.root, "it")
