"""A node's directory for the tests of verbs."""

from pathlib import Path

import pytest

from node.cli.main import main


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A data directory made by `init`."""
    assert main(["init", "--data-dir", str(tmp_path / "home"), "--name", "club", "--yes"]) == 0
    capsys.readouterr()
    return str(tmp_path / "home")
