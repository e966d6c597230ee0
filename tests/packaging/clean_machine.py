"""Installs things for a test as on a machine that knows nothing of this checkout."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FETCH_S = 900  # for what a registry sends over a slow line


def need(*tools: str) -> None:
    """Skip the test where a tool is not on this machine, or where it is not root's."""
    if missing := [tool for tool in tools if not shutil.which(tool)]:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    if os.geteuid() != 0:
        pytest.skip("only root makes roots and namespaces here")
