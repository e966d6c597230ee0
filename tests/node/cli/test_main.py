"""The command line as an operator meets it: what it prints, where, and with which exit code."""

import csv
import io
import json
import os
import stat
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bootstrap.networks import load_network, split_invitation
from dht import Identity, LocalFaults, PuzzleFile, decode_signed, parse_document, system_clock, work_of
from dht.overlay.peer_cache_file import NAME, PeerCache
from node.api.operation import Begun
from node.cli.commands.crawl import pause_s
from node.cli.commands.output import harmless
from node.cli.main import main
from node.config.data_dir import DataDir
from node.config.settings import load_config

ROOT = Path(__file__).parents[3]


def run(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "HOME": str(cwd), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "node", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


def test_alone_it_prints_help_with_examples(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)
    assert done.returncode == 0
    assert "dse-node demo" in done.stdout
    for verb in ("demo", "init", "run", "search", "crawl", "status", "peers", "pause", "resume", "network", "strategy"):
        assert f"\n    {verb}" in done.stdout


def test_starting_is_quick_because_imports_are_lazy(tmp_path: Path) -> None:
    program = (
        "import sys, node.cli.main; from node.cli.arguments import build_parser as b; b(); print(sorted(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for heavy in ("aiohttp", "msgspec", "jinja2", "tantivy", "nacl", "sqlite3"):
        assert f"'{heavy}'" not in loaded


def test_init_makes_a_private_network_of_one(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = DataDir(Path(home))
    data.check()
    assert load_config(data.config).node.web_port == 8090
    assert stat.S_IMODE(data.identity.stat().st_mode) == 0o600
    assert {key.name for key in data.keys.iterdir()} == {"club.publisher.key", "club.offline.key"}
    capsys.readouterr()
    assert main(["network", "show", "--data-dir", home]) == 0
    assert "fits its keys" in capsys.readouterr().out
    assert main(["identity", "show", "--data-dir", home, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["node_id"]) == 40
    assert main(["init", "--data-dir", home, "--yes"]) == 1
    assert "there is a node here already" in capsys.readouterr().err


def test_two_nodes_join_one_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "campus.toml"
    new = ["network", "new", "campus", "--out", str(file), "--bootstrap", "192.168.1.5:8091", "--replicas", "1"]
    assert main(new) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        "campus.toml",
        "campus.founder",
        "campus.publisher.key",
        "campus.offline.key",
    }
    assert stat.S_IMODE((tmp_path / "campus.publisher.key").stat().st_mode) == 0o600
    assert main(new) == 1
    assert "is there already" in capsys.readouterr().err
    for name in ("one", "two"):
        assert (
            main(["init", "--network", str(file), "--data-dir", str(tmp_path / name), "--yes", "--profile", "guest"])
            == 0
        )
    capsys.readouterr()
    assert main(["network", "show", str(file), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["name"] == "campus"
    assert shown["bootstrap"] == ["192.168.1.5:8091"]
    assert (tmp_path / "one" / "network.toml").read_text() == split_invitation(file.read_text())[0]
    assert (tmp_path / "one" / "identity.key").read_text() != (tmp_path / "two" / "identity.key").read_text()


def test_the_first_node_of_a_network_is_its_founder_and_no_other(tmp_path: Path) -> None:
    file, homes = tmp_path / "campus.toml", [tmp_path / name for name in ("guest", "one", "two")]
    assert main(["network", "new", "campus", "--out", str(file), "--bootstrap", "192.168.1.5:8091"]) == 0
    for home in homes:
        profile = "guest" if home.name == "guest" else "server"
        init = ["init", "--network", str(file), "--data-dir", str(home), "--yes", "--profile", profile]
        assert main(init) == 0
    ids = [Identity.load(DataDir(home).identity).node_id.hex() for home in homes]
    assert [DataDir(home).is_founded_by(id) for home, id in zip(homes, ids, strict=True)] == [False, True, False]
    homes[2].joinpath("founder").write_bytes(homes[1].joinpath("founder").read_bytes())
    assert not DataDir(homes[2]).is_founded_by(ids[2]), "another node's note says nothing"
    assert main(["network", "begin", "--data-dir", str(homes[2])]) == 0
    assert DataDir(homes[2]).is_founded_by(ids[2])
    assert main(["network", "begin", "--data-dir", str(tmp_path / "nowhere")]) == 1


def test_a_node_that_has_met_others_does_not_begin_its_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, home = tmp_path / "campus.toml", DataDir(tmp_path / "one")
    assert main(["network", "new", "campus", "--out", str(file), "--bootstrap", "192.168.1.5:8091"]) == 0
    init = ["init", "--network", str(file), "--data-dir", str(home.root), "--yes", "--profile", "guest"]
    assert main(init) == 0
    begin = ["network", "begin", "--data-dir", str(home.root)]
    with home.lock():
        assert main(begin) == 1, "it would count only from the next start on"
    PeerCache(home.dht / NAME).save([b"the heartbeat of another member"], (), LocalFaults(system_clock))
    assert main(begin) == 1 and not home.founder.exists()
    assert "has met other members" in (said := capsys.readouterr().err) and "run `dse-node network begin` again" in said


def test_a_new_network_takes_none_but_whom_members_have_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, options, admission in (("campus", (), "invited"), ("wide", ("--open",), "attested")):
        file = tmp_path / f"{name}.toml"
        assert main(["network", "new", name, "--out", str(file), *options]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert ("an invitation for 10 nodes, valid for 30 days" in told) == (admission == "invited")
        assert ("This does not stop somebody who has many addresses" in told) == bool(options)
        first = parse_document(load_network(file).first.document)
        assert first.admission == admission and first.second_look_permille == 30
        assert (split_invitation(file.read_text())[1] is None) == bool(options)
        assert stat.S_IMODE(file.stat().st_mode) == (0o644 if options else 0o600)
        assert main(["network", "show", str(file)]) == 0
        shown = capsys.readouterr().out
        assert ("nodes that other members have reached" if options else "nodes that were invited") in shown
        assert ("for 10 nodes, until" in shown) != bool(options)
    assert main(["init", "--data-dir", str(tmp_path / "home"), "--yes"]) == 0
    assert parse_document(load_network(DataDir(tmp_path / "home").network).first.document).admission == "invited"


def test_an_open_network_asks_for_work_and_init_does_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, options, bits in (("wide", [], 20), ("easy", ["--puzzle-bits", "12"], 12)):
        file = tmp_path / f"{name}.toml"
        assert main(["network", "new", name, "--out", str(file), "--open", *options]) == 0
        first = parse_document(load_network(file).first.document)
        assert (first.puzzle_bits, first.min_age_days) == (bits, 1)
    home = tmp_path / "home"
    capsys.readouterr()
    assert main(["init", "--network", str(tmp_path / "easy.toml"), "--data-dir", str(home), "--yes"]) == 0
    assert capsys.readouterr().err.count("solving the identity's puzzle of 12 bits ... done\n") == 1
    data = DataDir(home)
    assert work_of(Identity.load(data.identity).public_key, PuzzleFile(data.puzzle).load()) >= 12


def test_a_forged_network_file_makes_no_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "n.toml"
    assert main(["network", "new", "n", "--out", str(file)]) == 0
    file.write_text(file.read_text().replace('name = "n"', 'name = "other"'))
    assert main(["init", "--network", str(file), "--data-dir", str(tmp_path / "d"), "--yes"]) == 2
    assert "publisher keys" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()
    assert main(["init", "--network", str(tmp_path / "none"), "--data-dir", str(tmp_path / "d"), "--yes"]) == 2


def test_a_bad_configuration_is_exit_code_78(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    config = Path(home) / "config.toml"
    config.write_text(config.read_text().replace("# web_port = 8090", "web_prot = 8090"))
    for verb in ("run", "status"):
        assert main([verb, "--data-dir", home]) == 78
        error = capsys.readouterr().err
        assert f"{config}: unknown key node.web_prot; did you mean node.web_port?" in error
        assert error.count("\n") == 1
    store = Path(home + "-none") / "store"
    store.mkdir(parents=True)
    (store / "catalog.db").touch()
    assert main(["run", "--data-dir", str(store.parent)]) == 78, "somebody's data lies there"
    assert "dse-node init" in capsys.readouterr().err


def test_no_node_running_is_one_line(tmp_path: Path) -> None:
    done = run("search", "x", "--url", "http://127.0.0.1:9", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("dse-node: no node answers at http://127.0.0.1:9 (connection refused); start it with")
    assert done.stderr.count("\n") == 1


def test_search_prints_results_for_people_and_for_programs(site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    url = ["--url", f"http://127.0.0.1:{site.port}"]
    assert main(["search", "task", *url]) == 0
    out = capsys.readouterr().out
    assert " 1. 1. Whetting Your Appetite — Python 3 documentation\n    http://docs.python.test/3/tutorial/" in out
    assert "2 of 1,234 results in 34 ms; the whole network answered (256 slots)" in out
    assert "\x1b" not in out
    said = {"term": "task", "text": "A task is work.", "url": "http://docs.python.test/3/tutorial/appetite.html"}
    site.service.definition, site.service.related = said, ["cron task", "task queue"]
    assert main(["search", "task", "--sort", "date", *url]) == 0
    assert site.service.asked[-1].is_by_date
    out = capsys.readouterr().out
    assert out.startswith("A task is work.\n    http://docs.python.test/3/tutorial/appetite.html\n\n 1. ")
    assert "Related: cron task, task queue\n" in out
    site.service.total = 0
    assert main(["search", "e", *url]) == 0
    assert (
        "No page contains all the important words. These contain some of them. 3 results in" in capsys.readouterr().out
    )
    assert main(["search", "task", "--json", "--limit", "1", *url]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 1
    assert main(["search", "tsak", *url]) == 0
    assert "Showing results for: task (--verbatim: only for tsak)\n" in capsys.readouterr().out
    assert main(["search", "tsak", "--verbatim", *url]) == 0
    assert "Nothing found for tsak. Try fewer or other words.\n" in capsys.readouterr().out
    assert main(["search", "tsak", "--verbatim", "--site", "notahost", *url]) == 0
    assert "Nothing found for tsak on notahost." in capsys.readouterr().out
    assert main(["search", *url, "--", "-v"]) == 0
    assert "“-v” was read as an option of a command" in capsys.readouterr().out
    site.service.answered = 200
    assert main(["search", "nothing like it", *url]) == 0
    out = capsys.readouterr().out
    assert "Nothing found for nothing like it" in out
    assert "only 200 of 256 slots answered in time" in out


def test_a_language_or_host_that_cannot_be_is_refused_before_the_search(
    site: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    for option, value, problem in (("--lang", "xx", "is not a language"), ("--site", "not a host", "is not a host")):
        with pytest.raises(SystemExit) as end:
            main(["search", "task", option, value, "--url", f"http://127.0.0.1:{site.port}"])
        assert end.value.code == 2 and f"argument {option}: '{value}' {problem}" in capsys.readouterr().err
    assert not site.service.asked


def test_a_query_that_does_not_parse_shows_where(site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", '"系统', "--url", f"http://127.0.0.1:{site.port}"]) == 2
    error = capsys.readouterr().err
    assert '  "系统\n  ^\n' in error
    assert "no closing quotation mark" in error


def test_remove_says_what_goes_or_what_is_missing(
    site: Any, token: str, home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--data-dir", home, "--url", f"http://127.0.0.1:{site.port}"]
    (Path(home) / "admin.token").write_text(f"{token}\n")
    capsys.readouterr()
    assert main(["remove", "https://a.test/private/", *place]) == 0
    assert (
        capsys.readouterr().out
        == "All pages under https://a.test/private/ will be hidden within a minute and erased within an hour.\n"
    )
    assert main(["remove", "https://a.test/private/", "--json", *place]) == 0
    assert json.loads(capsys.readouterr().out)["proofs"] == ["https://a.test/private/"]
    assert main(["remove", "https://bad.test/", *place]) == 2
    assert capsys.readouterr().err == "dse-node: https://bad.test/: no file names it; put one there\n"
    (Path(home) / "admin.token").write_text("another-token-of-32-characters-at-least\n")
    assert main(["remove", "https://a.test/private/", *place]) == 2
    assert "token" in capsys.readouterr().err


def test_status_and_peers(site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    url = ["--url", f"http://127.0.0.1:{site.port}"]
    assert main(["status", *url]) == 0
    out = capsys.readouterr().out
    assert "5 nodes in the network" in out
    assert "812 kept here; about 1,204 in the network" in out and "512 MB of 10.0 GB\n" in out
    site.service.full_in_days = 41.7
    assert main(["status", *url]) == 0
    assert "512 MB of 10.0 GB, full in 42 days at the last day's rate" in capsys.readouterr().out
    assert "waiting for politeness at 3 sites" in out
    assert "up to date; 500 addresses still waiting to be fetched" in out
    assert "needs attention: the next version is 3 days late" in out
    site.service.broken.append({"site": "store", "cause": "store: no space left", "remedy": "free some space"})
    assert main(["status", *url]) == main(["status", "--json", *url]) == 3, "scripts see that its machine has faults"
    capsys.readouterr()
    site.service.broken.clear()
    site.service.needs += [{"topic": "clock", "state": "trouble", "text": "the clock is a day off"}]
    site.service.needs += [{"topic": "member", "state": "near", "text": "away: abab"}]
    assert main(["status", *url]) == main(["status", "--json", *url]) == 3
    assert "needs you: the clock is a day off" in capsys.readouterr().out
    site.service.needs.pop(0)
    assert main(["status", *url]) == 0, "who is away is no reason to be called"
    capsys.readouterr()
    assert main(["peers", *url]) == 0
    out = capsys.readouterr().out
    assert "abababababab  -     away   [::1]:9000" in out and "usual, double from 2026-11-21 14:00 UTC" in out
    assert main(["peers", "--json", *url]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [peer["coming_step"] for peer in found] == [None, {"step": 1, "at": 1_795_269_600}]


def test_peers_and_slots_are_found_ordered_and_written_for_programs(
    site: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    url = ["--url", f"http://127.0.0.1:{site.port}"]
    site.service.name_of_other = '=HYPERLINK("http://evil.test")'
    assert main(["peers", "--csv", "--order", "trouble", *url]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["live"] for row in rows] == ["no", "yes"], "who is silent comes first"
    assert rows[0]["name"] == '\'=HYPERLINK("http://evil.test")' and rows[0]["last_heard_s"] == "44.0"
    parts = [(row["part"], row["coming_part"], row["coming_at"]) for row in rows]
    assert parts == [("usual", "double", "1795269600"), ("usual", "", "")]
    assert main(["peers", "--json", "--find", "hyperlink", *url]) == 0
    assert [peer["ready"] for peer in json.loads(capsys.readouterr().out)] == [2]
    assert main(["peers", "--order", "beauty", *url]) == 2 and "trouble, name" in capsys.readouterr().err
    assert main(["slots", "--json", *url]) == 0
    assert [slot["slot"] for slot in json.loads(capsys.readouterr().out)] == list(range(4096)), "page after page"
    assert main(["slots", "--csv", "--few", "--member", "0006", *url]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [int(row["slot"]) % 1000 for row in rows] == [4, 6] * 5 and {row["copies"] for row in rows} == {"2"}
    assert main(["slots", "--slot", "6", *url]) == 0
    (line,) = capsys.readouterr().out.splitlines()[1:]
    assert line.startswith("6     ") and "2 of 3" in line and line.endswith("123 MB") and "(away)" in line


def test_sites_are_found_ordered_and_what_the_list_lacks_is_said(
    site: Any, place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sites", "--csv", "--order", "pages", *place]) == 0
    told = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(told.out)))
    assert [int(row["pages"]) for row in rows] == list(range(999, 499, -1)), "page after page"
    assert (rows[0]["changes_per_year"], rows[0]["visited_at"]) == ("12.5", "")
    assert "500 of 1,000 sites; --limit shows more" in told.err and "partial" not in told.err
    assert main(["sites", "--json", "--begins", "s00", "--limit", "150", *place]) == 0
    told = capsys.readouterr()
    assert len(json.loads(told.out)) == 100 and told.err == ""
    assert main(["sites", "--network", "--begins", "s0007", *place]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1].startswith("s0007.xxx") and "never" in told.out
    assert "partial: 1 of 3 members answered" in told.err and "more sites than the 1,000" in told.err
    (Path(place[-1]) / "admin.token").write_text("another-token-of-32-characters-at-least\n")
    assert main(["sites", *place]) == 2 and "token" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "＝1", "－1", "-"])
def test_no_cell_of_csv_is_a_formula(text: str) -> None:
    assert harmless(text).startswith("'") and harmless(-1) == "-1" and harmless(f"a{text}")[0] == "a"


def test_evidence_names_whom_to_block_once_the_pages_were_fetched_again(
    site: Any, place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evidence", *place]) == 0 and "no evidence" in capsys.readouterr().out
    site.service.accused = ["a.test", "b.test", "c.test"]
    assert main(["evidence", "--no-fetch", *place]) == 0
    assert "--block" not in capsys.readouterr().out
    assert main(["evidence", *place]) == 1
    assert f"dse-node strategy draft --block {'ab' * 20}" in capsys.readouterr().out
    assert main(["evidence", "--json", *place]) == 1
    assert json.loads(capsys.readouterr().out)["authors"][0]["again"] == dict.fromkeys(site.service.accused, "unlike")


def test_leaving_shows_its_progress_and_at_once_needs_a_yes(
    site: Any, place: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["leave", "--now", *place]) == 1
    told = capsys.readouterr()
    assert "7 of its 1,204 documents without another live copy" in told.out and "--now --yes" in told.out
    assert site.service.left == 0
    assert main(["leave", "--yes", *place]) == 0
    told = capsys.readouterr().out
    assert "2 slots" in told and "do not answer: abababababab" in told and told.endswith("network and ends.\n")
    site.service.left = 0
    assert main(["leave", "--now", "--yes", *place]) == 0
    assert site.service.left == 3


def typed_at(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Have somebody type a line at the terminal."""
    monkeypatch.setattr("sys.stdin", io.StringIO(line))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)


def test_leaving_asks_and_goes_on_when_it_is_no_longer_watched(
    site: Any, place: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert main(["leave", *place]) == 2 and "add --yes" in capsys.readouterr().err, "a script must be sure"
    for line in ("\n", "n\n", ""):
        typed_at(monkeypatch, line)
        assert main(["leave", *place]) == 1
    assert "Leave the network for good? [y/N]" in capsys.readouterr().err and site.service.left == 0

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    typed_at(monkeypatch, "y\n")
    with monkeypatch.context() as watching:
        watching.setattr("node.cli.commands.membership.time.sleep", interrupt)
        assert main(["leave", *place]) == 130 and site.service.left == 1
    assert "The node continues to leave: `dse-node leave` shows the progress" in capsys.readouterr().err
    assert main(["status", *place[:2]]) == 0 and "2 slots left to hand over" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    assert main(["leave", *place]) == 0, "whoever only looks again is not asked"


def test_a_node_is_backed_up_and_restored(home: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, words = ["--data-dir", home], tmp_path / "words"
    words.write_text("correct horse battery staple\n")
    phrase = ["--with-identity", "--passphrase-file", str(words)]
    assert main(["backup", str(tmp_path), *phrase, *place]) == 0
    (backup,) = tmp_path.glob("*.dse")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600 and " files, " in capsys.readouterr().out
    assert main(["backup", str(backup), *place]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["restore", str(backup), str(tmp_path / "same"), *phrase, "--yes"]) == 0
    assert "stop the original node" in capsys.readouterr().out
    key = Path(home) / "identity.key"
    assert (tmp_path / "same" / "identity.key").read_bytes() == key.read_bytes()
    assert main(["restore", str(backup), str(tmp_path / "other"), "--yes"]) == 0
    assert "a new node with the records of" in capsys.readouterr().out
    assert (tmp_path / "other" / "identity.key").read_bytes() != key.read_bytes()
    assert main(["restore", str(backup), str(tmp_path / "third"), "--with-identity"]) == 2
    assert "needs a passphrase, and there is no terminal" in capsys.readouterr().err
    backup.write_bytes(backup.read_bytes()[:-11_000])
    assert main(["restore", str(backup), str(tmp_path / "third")]) == 2
    assert "ends early" in capsys.readouterr().err and not (tmp_path / "third").exists()


def test_administration_uses_the_token_of_the_directory(
    site: Any, home: str, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--url", f"http://127.0.0.1:{site.port}", "--data-dir", home]
    assert main(["pause", *place]) == 2
    assert "token" in capsys.readouterr().err
    (Path(home) / "admin.token").write_text(token)
    assert main(["pause", *place]) == 0
    assert site.service.is_paused
    assert main(["pause", "1h30m", *place]) == 0
    assert site.service.paused_for_s == 5400.0
    assert main(["pause", "soon", *place]) == 2
    assert "'soon' is not a duration; use 2h" in capsys.readouterr().err
    assert main(["resume", *place]) == 0
    assert not site.service.is_paused
    assert main(["crawl", "example.org", "http://a.test/", "--depth", "2", *place]) == 0
    assert site.service.seeds == [(["https://example.org", "http://a.test/"], 2)]
    assert main(["crawl", "ftp://a.test/", *place]) == 1
    assert "refused: ftp://a.test/: not an http or https address" in capsys.readouterr().err


def test_a_shown_strategy_is_the_draft_of_the_next(
    site: Any, home: str, tmp_path: Path, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--url", f"http://127.0.0.1:{site.port}", "--data-dir", home]
    key = str(Path(home) / "keys" / "club.publisher.key")
    public = Identity.load(Path(key)).public_key.hex()
    capsys.readouterr()
    assert main(["strategy", "show", "--json", *place]) == 0
    draft = json.loads(capsys.readouterr().out) | {"replicas": 2, "publishers": [public]}
    (tmp_path / "draft.json").write_text(json.dumps(draft))
    signed = tmp_path / "signed.json"
    (Path(home) / "admin.token").write_text(token)
    draft_file = str(tmp_path / "draft.json")
    assert main(["strategy", "sign", draft_file, "--key", key, "--out", str(signed), *place]) == 2
    asked = capsys.readouterr().err
    assert "replicas      3 → 2" in asked and "12 of 256 slots" in asked and "--yes: is missing" in asked
    assert not signed.exists()
    assert main(["strategy", "sign", draft_file, "--key", key, "--out", str(signed), "--yes", *place]) == 0
    document = decode_signed(signed.read_bytes())
    strategy = parse_document(document.document)
    assert (strategy.version, strategy.previous, strategy.replicas) == (4, "ef" * 32, 2)
    assert strategy.effective_at < strategy.next_at <= strategy.expires_at
    offline = str(Path(home) / "keys" / "club.offline.key")
    assert main(["strategy", "sign", str(signed), "--key", offline, "--out", str(signed), "--yes", *place]) == 0
    assert len(decode_signed(signed.read_bytes()).signatures) == 2
    assert main(["strategy", "publish", str(signed), *place]) == 0
    assert "adopted: version 4" in capsys.readouterr().out


def test_a_version_that_puts_out_too_many_is_signed_with_their_number_alone(
    site: Any, home: str, tmp_path: Path, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--url", f"http://127.0.0.1:{site.port}", "--data-dir", home]
    key, signed = str(Path(home) / "keys" / "club.publisher.key"), tmp_path / "signed.json"
    public = Identity.load(Path(key)).public_key.hex()
    (Path(home) / "admin.token").write_text(token)
    (tmp_path / "draft.json").write_text(json.dumps(site.get("/api/v1/strategy").json | {"publishers": [public]}))
    sign = ["strategy", "sign", str(tmp_path / "draft.json"), "--key", key, "--out", str(signed), "--yes", *place]
    lost = [{"node": f"{n}" * 40, "reason": "it is\x1b[2J blocked"} for n in range(3)]
    site.service.effect = {"stay": ["ab" * 20], "lost": lost}
    for more in ([], ["--yes-i-lose", "2"]):
        assert main([*sign, *more]) == 2
        said = capsys.readouterr().err
        assert "1 of 4 present members: abababababababab" in said and "0000000000000000: it is[2J blocked" in said
        assert "puts out 3 of 4 present members" in said and "add --yes-i-lose 3" in said and not signed.exists()
    assert main([*sign, "--yes-i-lose", "3"]) == 0
    signed.unlink()
    site.service.effect = {"stay": [], "lost": lost}
    assert main([*sign, "--yes-i-lose", "3"]) == 2
    assert "it leaves nobody" in capsys.readouterr().err and not signed.exists()


def test_a_wait_ends_by_its_owners_word_after_the_risk_is_named(
    site: Any, home: str, place: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, key = ["network", "begin", *place], str(Path(home) / "keys" / "club.publisher.key")
    assert main([*begin, "--yes"]) == 0, "where enough answer nothing changes"
    assert capsys.readouterr().out == "not needed: 2 other members answer\n"
    site.service.alone = Begun(0, "cdcdcdcdcdcd (silent for 3 minutes)", site.service.alone.refusal, False)
    assert main([*begin, "--yes"]) == 2 and not site.service.published
    assert "only the node that breaks ties" in (told := capsys.readouterr().err) and "--key PUBLISHER.key" in told
    assert main([*begin, "--key", key]) == 2 and not site.service.published
    told = capsys.readouterr().err
    assert "waits for cdcdcdcdcdcd" in told and "both sides crawl" in told and "--yes is missing" in told
    typed_at(monkeypatch, "\n")
    assert main([*begin, "--key", key]) == 1 and not site.service.published
    assert "Go on without them? [y/N]" in capsys.readouterr().err
    typed_at(monkeypatch, "y\n")
    assert main([*begin, "--key", key]) == 0
    assert "goes on without them until they answer" in capsys.readouterr().out
    (signed,) = site.service.published
    own = Identity.load(Path(home) / "identity.key").node_id.hex()
    assert parse_document(decode_signed(signed).document).tie_breaker == own
    assert main([*begin, "--yes"]) == 0 and len(site.service.published) == 1, "no key is needed once it breaks ties"
    site.service.published.clear()
    site.service.alone = Begun(0, "", "this node has met nobody: stop it", False)
    assert main([*begin, "--yes"]) == 2 and "met nobody: stop it" in capsys.readouterr().err


def test_a_node_is_said_to_be_gone_in_one_step(home: str, place: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["network", "gone", "CD" * 20, "--key", str(Path(home) / "keys" / "club.publisher.key"), *place]
    assert main(asked) == 2
    assert "--yes: is missing" in capsys.readouterr().err
    assert main([*asked, "--yes"]) == 0
    assert f"version 4: {'cd' * 20} is gone" in capsys.readouterr().out
    assert main(["network", "gone", "somebody", *asked[3:], "--yes"]) == 2
    assert "gone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"replica": 2}, "did you mean replicas?"),
        ({"replicas": "two"}, "replicas"),
        ({"slot_bits": 40}, "slot_bits"),
        ({"slot_bits": 11}, "add --members N"),
        ({"index_copies": 1}, "add --one-index"),
        ({"index_copies": 0}, "index_copies"),
    ],
)
def test_a_bad_draft_is_refused_by_field(
    site: Any, home: str, tmp_path: Path, change: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = tmp_path / "draft.json"
    draft.write_text(json.dumps(site.get("/api/v1/strategy").json | {"publishers": ["ab" * 32]} | change))
    key = str(Path(home) / "keys" / "club.publisher.key")
    assert main(["strategy", "sign", str(draft), "--key", key]) == 2
    assert words in capsys.readouterr().err


def test_paths_lists_places_and_every_key(home: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paths", "--data-dir", home, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["config"] == f"{home}/config.toml"
    assert main(["paths", "--keys"]) == 0
    assert "node.web_port = 8090" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith("dse-node ")


def test_init_takes_settings_and_refuses_bad_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["init", "--yes", "--data-dir", str(tmp_path / "home")]
    for pair, words in [
        ("node.web_prot=1", "unknown key node.web_prot; did you mean node.web_port?"),
        ("node.web_port=x", "node.web_port: takes a whole number, not a text"),
        ("store.quota_bytes=0", "store.quota_bytes: 0 is not 1 or more"),
        ("node.web_port", "write KEY=VALUE"),
    ]:
        assert main([*place, "--set", pair]) == 78
        error = capsys.readouterr().err
        assert f"--set {pair}: " in error and words in error
    assert not (tmp_path / "home").exists()
    often = ("--set", "crawl.revisit_s=900", "--set", "crawl.min_revisit_s=120")  # neither fits the other's default
    assert main([*place, "--set", "node.families=[4]", "--set", "crawl.hosts_file=/etc/hosts", *often]) == 0
    config = load_config(tmp_path / "home" / "config.toml")
    assert (config.node.families, config.crawl.hosts_file) == ((4,), "/etc/hosts")


def test_a_network_behind_a_url_is_kept_and_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "campus.toml"
    assert main(["network", "new", "campus", "--out", str(file), "--seed", "dse.example.edu:8091", "--json"]) == 0
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/campus.toml"
        data = tmp_path / "node"
        assert main(["init", "--network", url, "--data-dir", str(data), "--yes"]) == 0
        assert main(["init", "--network", f"{url}#{'0' * 40}", "--data-dir", str(tmp_path / "other"), "--yes"]) == 2
        server.shutdown()
    assert (data / "network.toml").read_text() == split_invitation(file.read_text())[0]
    assert load_config(data / "config.toml").node.seed_url == url
    assert not (tmp_path / "other" / "config.toml").exists()
    assert "not 0000" in capsys.readouterr().err


def test_a_guest_needs_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--data-dir", str(tmp_path / "guest"), "--yes", "--profile", "guest"]) == 78
    assert "give --network" in capsys.readouterr().err


@pytest.fixture
def place(site: Any, home: str, token: str) -> list[str]:
    (Path(home) / "admin.token").write_text(token)
    return ["--url", f"http://127.0.0.1:{site.port}", "--data-dir", home]


def test_crawl_hands_in_seeds_of_files_and_sitemaps_with_their_scope(
    site: Any, place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("a.test/\n# no\n" + "".join(f"http://b.test/{n}\n" for n in range(1200)))
    told = ["crawl", "http://old.test/", "--from", str(seeds), "--sitemap", "a.test/s.xml", "--scope", "host"]
    assert main([*told, "--depth", "2", *place]) == 0
    assert capsys.readouterr().out == (
        "1,203 addresses added, within a.test (1 known already, without any effect); "
        "`dse-node jobs` shows the progress\n"
    )
    batches = [urls for urls, _ in site.service.seeds]
    assert [len(batch) for batch in batches] == [1000, 202]
    assert batches[0][:3] == ["http://old.test/", "https://a.test/", "http://b.test/0"]
    assert site.service.orders == [("host", (), False), ("host", ("https://a.test/s.xml",), False)]
    assert main(["crawl", "--from", str(tmp_path / "none"), *place]) == 2
    assert "none: no such file" in capsys.readouterr().err
    (tmp_path / "empty").write_text("# nothing yet\n\n")
    assert main(["crawl", "--from", str(tmp_path / "empty"), *place]) == 2
    assert "empty holds no address: give a text with one URL a line" in capsys.readouterr().err


def test_a_dry_run_writes_nothing(site: Any, place: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crawl", "http://old.test/", "b.test", "ftp://c/", "--sitemap", "b.test/s", "--dry-run", *place]) == 1
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "would be added: http://old.test/, within a.test (known, so not fetched again: fetched)",
        "would be added: https://b.test, within a.test",
        "would be added: sitemap, its pages become seeds: https://b.test/s, within a.test",
        "dry run: 3 addresses would be added, 1 of them known already, without any effect; 1 refused; "
        "nothing was written",
    ]
    assert told.err == "refused: ftp://c/: not an http or https address\n"
    assert site.service.seeds == []


def test_who_waits_is_told_once_where_there_is_no_terminal(
    site: Any, place: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("node.cli.commands.crawl.LOOK_EVERY_S", 0.0)
    assert main(["crawl", "http://a.test/", "http://bad.test/", "--depth", "1", "--wait", *place]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1:] == ["done: 2 fetched, 0 waiting, 2 failed", "  2 × status 500"]
    assert told.err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    site.service.looks = 0
    assert main(["crawl", "http://a.test/", "--wait", "--json", *place]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["progress"] == {"fetched": 1, "waiting": 0}
    assert told.err == ""
    site.service.looks = 0
    assert main(["crawl", "http://a.test/", "--wait", *place]) == 0
    assert "\r\x1b[K0 fetched, 1 waiting, 0 failed" in capsys.readouterr().err


def test_many_addresses_are_waited_for_no_longer_than_few() -> None:
    assert pause_s(250, 250, 0.1) == pause_s(3, 3, 0.1) == 1.0
    assert 180 * pause_s(250, 45_000, 0.001) == pytest.approx(1.0)
    assert pause_s(250, 45_000, 2.0) == 2.0, "a busy node is asked less"


def test_explain_answers_in_lines(site: Any, place: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crawl", "--explain", "a.test/", *place]) == 0
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert lines["fetched?"] == "later: fetched 2 days ago; due again in 5 days"
    assert lines["address"] == "https://a.test/"
    assert lines["owners"] == "abababababab (not ready), this node (away)"
    assert lines["slot"] == "3 of 256, its site is spread over 4 places"
    assert lines["robots"] == "allows it, asks for 5 s between requests"
    assert "links followed from it: 1 deep within a.test" in lines["known"]
    assert main(["crawl", "--explain", "bad", *place]) == 1
    assert capsys.readouterr().out == "fetched?  no: not a URL[31m\n"
    assert main(["crawl", "--explain", "a.test", "--json", *place]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "later"
    assert main(["crawl", "b.test", "--explain", "a.test", *place]) == 2
    assert main(["crawl", *place]) == 2
    assert "give a URL, --from FILE" in capsys.readouterr().err
    assert site.service.seeds == []


def test_a_stopped_nodes_store_is_verified_and_a_running_one_is_refused(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verify, data = ["store", "verify", "--data-dir", home], DataDir(Path(home))
    capsys.readouterr()
    assert main(verify) == 0 and capsys.readouterr().out.endswith("no flaws\n")
    (data.store / "segment-00000001").write_bytes(b"dse-segment-1\n\0\0" + bytes(50))
    (data.store / "segment-00000002").write_bytes(b"dse-segment-1\n\0\0")
    assert main(verify) == 1
    told = capsys.readouterr().out
    assert "bytes damaged: 50 (segment-00000001 from byte 16 to 66); check the disk" in told
    assert main([*verify, "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert body["segments"] == 2 and body["is_sound"] is False and body["flaws"][0]["what"] == "index missing"
    with data.lock():
        assert main(verify) == 1
    assert "stop that node first" in capsys.readouterr().err


def test_a_running_node_is_scrubbed_and_what_was_damaged_is_told(
    site: Any, home: str, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("node.cli.commands.store.LOOK_EVERY_S", 0.0)
    monkeypatch.setattr("node.cli.commands.store.PATIENT_S", -1.0)
    scrub = ["store", "scrub", "--url", f"http://127.0.0.1:{site.port}", "--data-dir", home]
    (Path(home) / "admin.token").write_text(token)
    capsys.readouterr()
    assert main(scrub) == 1
    assert capsys.readouterr().out.splitlines() == [
        "0% read, 0 records",
        "50% read, 1,000 records",
        "2,000 records read, former versions included; 3 damaged, 0 of them fetched again from other owners; 3 still "
        "missing: `dse-node status` shows the progress",
    ]
    assert main(["status", "--json", *scrub[2:]]) == 0
    capsys.readouterr()
    assert main(scrub) == 0
    assert capsys.readouterr().out.endswith("3 damaged, 3 of them fetched again from other owners\n")
    assert main([*scrub, "--json"]) == 0 and json.loads(capsys.readouterr().out)["open"] == 0


def test_a_node_that_forgot_its_scrub_when_it_started_anew_is_asked_again(
    site: Any, home: str, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("node.cli.commands.store.LOOK_EVERY_S", 0.0)
    site.service.forgets = 1
    (Path(home) / "admin.token").write_text(token)
    capsys.readouterr()
    assert main(["store", "scrub", "--url", f"http://127.0.0.1:{site.port}", "--data-dir", home]) == 0
    assert capsys.readouterr().out.startswith("0% read, 0 records\n50% read")
