"""`strategy edit` against a node that answers: an editor, questions, a preview, a signature, and what is published."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from dht import Identity, Rule, Strategy, decode_signed, parse_document
from node.cli.main import main
from node.strategy.signing import own_keys

PUBLISHER = Identity(b"p" * 32)
Edit = Any


@pytest.fixture
def edit(site: Any, home: str, token: str, monkeypatch: pytest.MonkeyPatch) -> Edit:
    """Run `strategy edit` with answers and an editor, a line of Python that gets the draft's text as `t`."""
    PUBLISHER.save(Path(home) / "keys" / "campus.publisher.key")
    (Path(home) / "admin.token").write_text(token)
    site.service.in_force = {
        "publishers": (PUBLISHER.public_key.hex(),),
        "rules": (Rule(action="deny", host="old.test"),),
    }

    def run(*words: str, answers: str = "", editor: str = "") -> int:
        program = Path(home) / "editor"
        program.write_text(f"import sys\np = sys.argv[1]\nt = open(p).read()\nopen(p, 'w').write({editor or 't'})\n")
        monkeypatch.setenv("EDITOR", f"{sys.executable} {program}" if editor else "")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setattr("tempfile.tempdir", home)
        monkeypatch.setattr("sys.stdin", io.StringIO(answers))
        place = ["--url", f"http://127.0.0.1:{site.port}", "--data-dir", home]
        return main(["strategy", "edit", *words, *place])

    return run


def published(site: Any) -> Strategy:
    (document,) = site.service.published
    signed = decode_signed(document)
    assert [each.key for each in signed.signatures] == [PUBLISHER.public_key.hex()]
    return parse_document(signed.document)


def test_questions_make_a_version_that_is_published(site: Any, edit: Edit, capsys: Any) -> None:
    answers = "New.test\nslow.test=5\n\n\n\n1\n*.uni.test\nc0ffee\n\n\n\nreplicas\n4\n"
    assert edit("--yes", answers=answers) == 0
    told = capsys.readouterr()
    assert "1  deny old.test" in told.out and "version 4 is published" in told.out and "replicas" in told.err
    strategy = published(site)
    denied, slow, named = strategy.rules
    assert (
        slow == Rule(host="slow.test", min_delay_s=5)
        and denied.host == "new.test"
        and named.host == "*.uni.test"
        and strategy.replicas == 4
    )


def test_an_editor_changes_the_draft(site: Any, edit: Edit, home: str) -> None:
    assert edit("--yes", editor="t.replace('old.test', 'newer.test')") == 0
    assert [rule.host for rule in published(site).rules] == ["newer.test"]
    assert not list(Path(home).glob("strategy-*")), "the draft is gone with its publication"


def test_nothing_is_published_where_nothing_changed_or_nobody_agreed(site: Any, edit: Edit, capsys: Any) -> None:
    assert edit("--yes", editor="t") == 0 and "nothing changed" in capsys.readouterr().out
    assert edit("--yes", answers="\n" * 12) == 2 and "changes nothing" in capsys.readouterr().err
    assert edit(answers="a.test\n" + "\n" * 12) == 2 and "--yes" in capsys.readouterr().err
    assert edit("--yes", editor="'{'") == 2
    assert edit("--yes", editor="t.replace('replicas', 'replica')") == 2
    assert "did you mean replicas?" in capsys.readouterr().err
    assert site.service.published == []


def test_a_refused_draft_stays_in_its_file(site: Any, edit: Edit, home: str, capsys: Any) -> None:
    assert edit("--yes", editor="t.replace('old.test', 'OLD.test')") == 2
    (kept,) = Path(home).glob("strategy-4-*.json")
    assert "OLD.test" in kept.read_text() and "rules[1].host" in capsys.readouterr().err


def test_the_rules_of_signing_hold(site: Any, edit: Edit, home: str, capsys: Any) -> None:
    lost = {"node": "ab" * 20, "reason": "it is blocked"}
    site.service.effect = {"stay": ["cd" * 20], "lost": [lost, lost]}
    answers = "\n" * 7 + "ab" * 20 + "\n" * 4
    assert edit("--yes", answers=answers) == 2 and "--yes-i-lose 2" in capsys.readouterr().err
    assert edit("--yes", "--yes-i-lose", "2", answers=answers) == 0 and published(site).blocked == ("ab" * 20,)
    (Path(home) / "keys" / "campus.publisher.key").unlink()
    assert edit("--yes", answers=answers) == 2 and "1 publishers must sign, 0 did" in capsys.readouterr().err


def test_only_publishers_keys_count(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    PUBLISHER.save(tmp_path / "a.publisher.key")
    PUBLISHER.save(tmp_path / "copy.publisher.key")
    Identity(b"x" * 32).save(tmp_path / "other.publisher.key")
    (tmp_path / "broken.publisher.key").write_text("no key")
    PUBLISHER.save(tmp_path / "network.offline.key")
    found = own_keys(tmp_path, [PUBLISHER.public_key.hex()])
    assert [key.public_key for key in found] == [PUBLISHER.public_key]
    assert "broken.publisher.key" in caplog.text
    assert own_keys(tmp_path / "none", [PUBLISHER.public_key.hex()]) == []
