"""schemathesis, where it is installed, tries what /openapi.json promises: no failure of ours, and no status or body
without a description. It cannot know which requests make sense, so that some are refused is no fault."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.prove

CHECKS = "not_a_server_error,status_code_conformance,response_schema_conformance,ignored_auth"


def test_nothing_is_answered_that_is_not_described(site: Any, token: str, tmp_path: Path) -> None:
    if find_spec("schemathesis") is None:
        pytest.skip("schemathesis is not installed")
    asked = ["-H", f"Authorization: Bearer {token}", "--checks", CHECKS, "--seed", "1", "--max-examples", "10"]
    asked += ["--exclude-path", "/api/v1/leave"]  # the node of the tests leaves once
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"http://127.0.0.1:{site.port}/openapi.json", *asked]
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path), "HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
