"""The long tests share a wheel of this checkout, and a root of Debian that knows nothing of this machine.

Both come from package registries by their ordinary clients, as does what the wheel depends on. A test that lacks a
tool, or a right, is skipped by its name.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.clean_machine import FETCH_S, ROOT, need

# what the package and the image depend on, and what starts services:
IN_ROOT = "python3-venv,adduser,ca-certificates,libstdc++6,systemd,dbus"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(ROOT)]
    subprocess.run(command, check=True, timeout=FETCH_S)
    return next(out.glob("dse_node-*.whl"))


@pytest.fixture(scope="session")
def package(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Debian package of this checkout, squeezed little."""
    need("dpkg-deb")
    out = tmp_path_factory.mktemp("package")
    environment = {**os.environ, "PIP": f"{sys.executable} -m pip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    build = [str(ROOT / "packaging" / "build_deb.sh"), str(wheel), str(out)]
    subprocess.run(build, env=environment, check=True, timeout=FETCH_S)
    return next(out.glob("*.deb"))


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
