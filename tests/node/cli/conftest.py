"""A node's directory for the tests of verbs."""

from pathlib import Path
from typing import Any

import pytest

from node.cli.main import main


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A data directory made by `init`."""
    assert main(["init", "--data-dir", str(tmp_path / "home"), "--name", "club", "--yes"]) == 0
    capsys.readouterr()
    return str(tmp_path / "home")


@pytest.fixture
def place(site: Any, token: str, home: str) -> list[str]:
    """Options that name a node which answers, and the directory that holds its token."""
    (Path(home) / "admin.token").write_text(f"{token}\n")
    return ["--url", f"http://127.0.0.1:{site.port}", "--data-dir", home]
