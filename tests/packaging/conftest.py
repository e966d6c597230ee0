"""The long tests share a release of this checkout, and a root of Debian that knows nothing of this machine.

Both come from package registries by their ordinary clients, as does what the wheel depends on. A test that lacks a
tool, or a right, is skipped by its name.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.packaging.clean_machine import FETCH_S, ROOT, make_release, need

# what the package and the image depend on, and what starts services:
IN_ROOT = "python3-venv,adduser,ca-certificates,libstdc++6,systemd,dbus"


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of a release of this checkout."""
    return make_release(ROOT, tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="session")
def wheel(release: Path) -> Path:
    return next(release.glob("dse_node-*.whl"))


@pytest.fixture(scope="session")
def package(release: Path) -> Path:
    """The Debian package of this checkout."""
    need("dpkg-deb")
    return next(release.glob("*.deb"))


@pytest.fixture(scope="session")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a root of this machine's own release, as mmdebstrap makes it; or one made before, DEBIAN_ROOT."""
    if made := os.environ.get("DEBIAN_ROOT"):
        return Path(made)
    need("mmdebstrap", "unshare", "dpkg-deb")
    released = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    if released.get("ID") != "debian":
        pytest.skip("makes its roots of Debian, which this machine is not")
    archive = tmp_path_factory.mktemp("debian") / "root.tar"
    command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={IN_ROOT}", released["VERSION_CODENAME"]]
    done = subprocess.run([*command, str(archive)], capture_output=True, text=True, timeout=FETCH_S, check=False)
    if done.returncode:
        pytest.skip(f"mmdebstrap made no root: {done.stderr.strip()[-300:]}")
    return archive
