"""The file of passwords: what it takes, whom it knows, and what a damaged or open one is worth."""

import unicodedata
from pathlib import Path

import pytest

from node.errors import BadPassword
from node.owner.passwords import LEAST_CHARS, MOST_CHARS, PasswordFile, role_of

OWNERS, VIEWERS = "correct horse battery", "密码密码密码密码密码密码　é"


@pytest.fixture
def file(tmp_path: Path) -> PasswordFile:
    return PasswordFile(tmp_path / "passwords")


def test_each_role_has_a_password_of_its_own(file: PasswordFile, tmp_path: Path) -> None:
    running = PasswordFile(tmp_path / "passwords")
    assert running.hashes() == {}
    file.set("owner", OWNERS)
    file.set("viewer", VIEWERS)
    text = (tmp_path / "passwords").read_text()
    assert (tmp_path / "passwords").stat().st_mode & 0o777 == 0o600
    assert text.count("$argon2id$v=19$m=65536,t=2,p=1$") == 2 and OWNERS not in text
    known = running.hashes()
    assert [role_of(typed, known) for typed in (OWNERS, VIEWERS, OWNERS + " ")] == ["owner", "viewer", None]
    assert role_of(unicodedata.normalize("NFD", VIEWERS), known) == "viewer", "however a keyboard composes it"
    assert file.remove("owner") and not file.remove("owner")
    assert running.hashes().keys() == {"viewer"}


def test_a_password_that_is_guessed_soon_is_refused(file: PasswordFile, tmp_path: Path) -> None:
    for password in (
        "x" * (LEAST_CHARS - 1),
        "x" * (MOST_CHARS + 1),
        "x" * LEAST_CHARS + "\x1b",
        "\udcff" * LEAST_CHARS,
    ):
        with pytest.raises(BadPassword):
            file.set("owner", password)
    assert not (tmp_path / "passwords").exists()
    file.set("owner", OWNERS)
    with pytest.raises(BadPassword, match="that of the other login"):
        file.set("viewer", OWNERS)


def test_a_file_that_others_read_or_that_is_damaged_lets_nobody_in(
    file: PasswordFile, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file.set("owner", OWNERS)
    path = tmp_path / "passwords"
    path.chmod(0o644)
    assert file.hashes() == {} and f"chmod 600 {path}" in caplog.text
    path.chmod(0o600)
    good = path.read_text()
    assert file.hashes().keys() == {"owner"}
    for bad in ("owner secret\n", "root" + good[5:], good[:-1] + "x" * 100, "\xff"):
        path.write_text(bad, encoding="latin-1")
        assert file.hashes() == {}, bad
    path.write_text(good[:60] + "\n")
    assert role_of(OWNERS, file.hashes()) is None, "a hash that is cut"
    file.set("owner", OWNERS)
    assert role_of(OWNERS, file.hashes()) == "owner"
