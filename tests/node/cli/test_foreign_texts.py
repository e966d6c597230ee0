"""Commands print other people's files as plain text, whatever stands in a file or in its name."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from bootstrap.networks import load_network
from dht import Identity, add_signature, decode_signed, parse_document
from node.cli.main import main
from node.views.safe_text import plain

RAW = "E\x1b[31mR\x07\x9b2J\u202eX\u2066\x7f\u200fY"  # escapes, a bell, C1 controls and directions
SHOWN = "E[31mR2JXY"


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the printed text, and check that all of it is plain."""
    out, err = capsys.readouterr()
    for line in f"{out}\n{err}".split("\n"):
        assert plain(line, len(line)) == line, ascii(line)
    return out + err


def draft(site: Any, home: str, change: dict[str, Any]) -> Path:
    public = Identity.load(Path(home) / "keys" / "club.publisher.key").public_key.hex()
    body = site.get("/api/v1/strategy").json | {"publishers": [public]} | change
    (Path(home) / "draft.json").write_text(json.dumps(body, ensure_ascii=False))
    return Path(home) / "draft.json"


PATTERN = "/a\u202eb\x7f\x9b/"
CHANGES: dict[str, tuple[dict[str, Any], bool]] = {
    "field": ({RAW: 1}, False),
    "field of a rule": ({"rules": [{"action": "deny", "host": "a.test", RAW: 1}]}, False),
    "value": ({"admission": RAW}, False),
    "host": ({"rules": [{"action": "deny", "host": RAW}]}, False),
    "node": ({"blocked": [RAW]}, False),
    "pattern": ({"rules": [{"action": "deny", "host": "a.test", "pattern": PATTERN}]}, True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_draft_is_shown_and_signed_in_plain_text(
    name: str, site: Any, home: str, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change, is_sound = CHANGES[name]
    file, place = draft(site, home, change), ["--url", f"http://127.0.0.1:{site.port}", "--data-dir", str(home)]
    (Path(home) / "admin.token").write_text(token)
    key_file = str(Path(home) / "keys" / "club.publisher.key")
    assert main(["strategy", "sign", str(file), "--key", key_file, "--yes", *place]) == (0 if is_sound else 2)
    out, err = capsys.readouterr()
    for line in f"{out}\n{err}".split("\n"):
        assert plain(line, len(line)) == line, ascii(line)
    if is_sound:
        signed = decode_signed(out.encode())
        assert parse_document(signed.document).rules[0].pattern == PATTERN, "it says the same"
        assert signed == add_signature(signed, Identity.load(Path(key_file))), "signed as it was printed"
    for verb in (["diff", str(file)], ["diff", str(file), "--json"], ["publish", str(file)]):
        main(["strategy", *verb, *place])
        printed(capsys)


def test_a_network_file_is_shown_in_plain_text(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, identifier = (Path(home) / "network.toml").read_text(), load_network(Path(home) / "network.toml").id
    escaped = json.dumps(RAW).replace("\x7f", "\\u007f").replace("\x9b", "\\u009b")
    other = Path(home) / f"n{RAW}.toml"
    for broken in (text.replace(f'"{identifier}"', escaped), text.replace('"club"', escaped), RAW, f"x = {escaped}"):
        other.write_text(broken)
        for verb in (["network", "show", str(other)], ["accept", str(other), "--data-dir", str(home)]):
            assert main(verb) == 2
            assert SHOWN in printed(capsys)


def test_an_archive_and_a_backup_are_named_in_plain_text(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    archive, backup = Path(home) / f"a{RAW}.txt", Path(home) / f"b{RAW}.dse"
    archive.write_text("no archive")
    with tarfile.open(backup, "w") as tar:
        tar.addfile(tarfile.TarInfo(f"m{RAW}"))
    place = ["--data-dir", str(home)]
    for verb in (["archive", "import", str(archive), *place], ["restore", str(backup), str(Path(home) / "new")]):
        assert main(verb) == 2
        assert SHOWN in printed(capsys)
