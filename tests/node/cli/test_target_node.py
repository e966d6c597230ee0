"""Which node a verb asks: that of the data directory and no other, or any at --url."""

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from bootstrap import load_network
from dht import Identity, encode_signed
from node.cli.arguments import build_parser
from node.cli.main import main
from node.cli.manual_page import arguments_of, parsers_below
from tests.node.conftest import OWN

WORDS = {  # what the verbs that ask a node take besides
    "search": ["task"],
    "crawl": ["--explain", "http://a.test/"],
    "remove": ["http://a.test/"],
    "archive export": ["out.jsonl"],
    "archive import": ["in.jsonl"],
    "web-report": ["shape.html"],
    "network gone": ["ab" * 20, "--key", "key", "--yes"],
    "strategy publish": ["signed.json"],
    "strategy diff": ["draft.json"],
}
BY_FILES = {"strategy sign", "network begin", "config get", "config set"}  # which do something without a node, too
VERBS = [
    name
    for verb in parsers_below(build_parser())
    if any("--url" in action.option_strings for action in arguments_of(verb))
    and (name := verb.prog.removeprefix("dse-node ")) not in BY_FILES
]


def made(home: Path, port: int, *words: str) -> str:
    assert main(["init", "--data-dir", str(home), "--yes", "--set", f"node.web_port={port}", *words]) == 0
    return str(home)


@pytest.fixture
def another(site: Any, tmp_path: Path) -> str:
    """The directory of a node that does not run, where another node listens at its port."""
    return made(tmp_path / "another", site.port)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_asks_no_other_node_than_that_of_its_directory(
    verb: str, another: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Identity(b"k" * 32).save(tmp_path / "key")
    first = load_network(Path(another) / "network.toml").first
    (tmp_path / "draft.json").write_bytes(first.document)
    (tmp_path / "signed.json").write_bytes(encode_signed(first))
    page = {"url": "http://a.test/", "captured_at": 1.7e9, "status": 200, "content": "<html>a"}
    (tmp_path / "in.jsonl").write_text(json.dumps(page) + "\n")
    called = {"name": "search", "arguments": {"query": "task"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(json.dumps(asked).encode() + b"\n")))
    command = [*verb.split(), *WORDS.get(verb, [])]
    capsys.readouterr()
    assert main([*command, "--data-dir", another]) == (0 if verb == "mcp" else 1), "mcp tells it to its client"
    said = "".join(capsys.readouterr())
    assert "this node does not run" in said and OWN.node_id.hex()[:12] in said
    assert main([*command, "--data-dir", str(tmp_path / "nowhere")]) == 1
    assert "no node lives here" in "".join(capsys.readouterr())


@pytest.mark.parametrize("verb", ["status", "peers", "top", "search", "pause"])
def test_the_node_of_the_directory_and_any_node_by_its_url_are_asked(
    verb: str, site: Any, another: str, token: str, tmp_path: Path
) -> None:
    command, home = (
        [verb, *WORDS.get(verb, [])],
        Path(made(tmp_path / "home", site.port)),
    )
    for file in (home / "identity.key", home / "admin.token"):
        file.unlink()
    OWN.save(home / "identity.key")
    (home / "admin.token").write_text(token)
    (home / "admin.token").chmod(0o600)
    (Path(another) / "admin.token").write_text(token)
    assert main([*command, "--data-dir", str(home)]) == 0
    assert main([*command, "--data-dir", another]) == 1
    assert main([*command, "--data-dir", another, "--url", f"http://127.0.0.1:{site.port}"]) == 0


def test_a_node_that_nobody_listens_for_does_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = made(tmp_path / "home", 1)
    capsys.readouterr()
    assert main(["status", "--data-dir", home]) == 1
    said = capsys.readouterr().err
    assert "this node does not run" in said and "connection refused" in said and "dse-node run" in said


@pytest.mark.parametrize("damage", ["garbage", "folder", "gone"])
def test_a_damaged_identity_is_named_and_no_node_is_taken_for_it(
    damage: str, another: str, capsys: pytest.CaptureFixture[str]
) -> None:
    key = Path(another) / "identity.key"
    key.unlink()
    if damage == "garbage":
        key.write_bytes(b"\xff\x00 no key")
        key.chmod(0o600)
    elif damage == "folder":
        key.mkdir()
    for verb in ("status", "search", "peers", "top", "update"):
        capsys.readouterr()
        assert main([verb, *WORDS.get(verb, []), "--data-dir", another]) == 1
        assert "identity.key" in "".join(capsys.readouterr())
    assert main(["doctor", "--data-dir", another, "--json"]) == 1
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["identity"]["health"] == "bad" and "peers" not in checks
    assert checks["node"]["health"] == "bad"
