"""Installs things for a test as on a machine that knows nothing of this checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FETCH_S = 900  # for what a registry sends over a slow line
MADE_AT = 1_795_000_000  # of all files of a release


def need(*tools: str) -> None:
    """Skip the test where a tool is not on this machine, or where it is not root's."""
    if missing := [tool for tool in tools if not shutil.which(tool)]:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    if os.geteuid() != 0:
        pytest.skip("only root makes roots and namespaces here")


def make_release(checkout: Path, out: Path) -> Path:
    """Build all files of a release from a checkout, the Debian package squeezed little; return their folder."""
    pytest.importorskip("build", reason="build is not installed: pip install -e '.[dev]'")
    environment = {**os.environ, "PYTHONPATH": str(checkout), "SOURCE_DATE_EPOCH": str(MADE_AT)}
    command = [sys.executable, checkout / "packaging" / "release.py", "build", out]
    subprocess.run(command, env={**environment, "DPKG_DEB_COMPRESSOR_LEVEL": "1"}, check=True, timeout=FETCH_S)
    return out
