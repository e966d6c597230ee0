"""What a test needs to install things as on a machine that knows nothing of this checkout."""

import os
import shutil
import subprocess
import sys
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


def build_package(wheel: Path, out: Path) -> Path:
    """Return the Debian package of a wheel, squeezed little."""
    environment = {**os.environ, "PIP": f"{sys.executable} -m pip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    build = [str(ROOT / "packaging" / "build_deb.sh"), str(wheel), str(out)]
    subprocess.run(build, env=environment, check=True, timeout=FETCH_S)
    return next(out.glob("*.deb"))
