"""Units start, watch and restart nodes under a real systemd, which runs as process 1 of a clean root."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.process.service_unit import RESTART_S
from tests.packaging.clean_machine import need

pytestmark = pytest.mark.prove
BACK_S = 5.0  # in which a killed node answers again, on a machine that has nothing else to do
EXPOSURE = 2.0
BOOTS_S = 60.0
BOOTED = ["systemctl", "is-system-running", "--wait"]
BOOT = """
set -e
root=$1
mount --make-rprivate /
ip link set lo up
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mkdir "$root/sys/fs/cgroup/systemd" "$root/sys/fs/cgroup/unified"
if ! mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd" 2>/dev/null; then
  umount "$root/sys/fs/cgroup"
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
fi
mount -t tmpfs -o mode=755 dev "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s pts/ptmx "$root/dev/ptmx"
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=755 run "$root/run"
cd "$root"
mkdir -p old
pivot_root . old
umount -l /old
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/lib/systemd/systemd --system --unit=multi-user.target
"""


@pytest.fixture
def enter(debian: Path, tmp_path: Path) -> Iterator[list[str]]:
    """Yield the words that run a command on a machine whose process 1 is systemd and whose root is tmp_path/root."""
    need("unshare", "nsenter", "ip", "tar")
    root = tmp_path / "root"
    root.mkdir()
    subprocess.run(["tar", "-C", str(root), "-xf", str(debian)], check=True, timeout=300)
    if not (root / "usr/lib/systemd/systemd").exists():
        pytest.skip("DEBIAN_ROOT names a root without systemd")
    namespaces = ["--mount", "--pid", "--cgroup", "--uts", "--ipc", "--net"]
    boot = ["unshare", *namespaces, "--fork", "--kill-child", "sh", "-c", BOOT, "sh", str(root)]
    with (tmp_path / "boot.log").open("w+") as log, subprocess.Popen(boot, stdout=log, stderr=log) as machine:
        try:
            until = time.monotonic() + BOOTS_S
            while time.monotonic() < until and machine.poll() is None:
                first = Path(f"/proc/{machine.pid}/task/{machine.pid}/children").read_text().strip()
                inside = ["nsenter", "--target", first, *namespaces]
                asked = subprocess.run([*inside, *BOOTED], capture_output=True, text=True, timeout=BOOTS_S, check=False)
                if asked.stdout.strip() in ("running", "degraded"):
                    break
                time.sleep(0.2)
            else:
                log.seek(0)
                pytest.skip(f"systemd does not boot in namespaces here: {log.read()[-500:]}")
            yield inside
        finally:
            machine.kill()


def test_units_start_watch_and_restart_nodes(package: Path, enter: list[str], tmp_path: Path) -> None:
    for file in (package, Path(__file__).with_name("judge_systemd.py")):
        shutil.copy(file, tmp_path / "root" / "srv")
    judge = [*enter, "python3", "-B", "/srv/judge_systemd.py", f"/srv/{package.name}"]
    done = subprocess.run(judge, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    ours, volunteers = seen["package"], seen["volunteer"]
    assert "active" in ours["status"] and "search page: http://127.0.0.1:8090" in ours["status"]
    assert ours["found"] == ours["found_again"] == volunteers["found"] == 1
    assert ours["restarts"] == "1" and ours["back_s"] <= max(BACK_S, RESTART_S + 2 * ours["started_s"]), ours
    assert ours["stopped"] == {"Result": "success", "ExecMainStatus": "0"}
    assert ours["alive"] == {"NRestarts": "0", "ActiveState": "active"}, (
        "a node that works is not ended by its watchdog"
    )
    assert ours["frozen"] == {"NRestarts": "1", "ActiveState": "active"}
    assert "systemctl --user enable --now" in volunteers["installed"] and "active" in volunteers["status"]
    assert max(exposure(ours["exposure"]), exposure(volunteers["exposure"])) <= EXPOSURE
    assert volunteers["left"] == []


def exposure(line: str) -> float:
    """Read what systemd-analyze says at the end: 0 is shut in best."""
    found = re.search(r"exposure level for .*: ([0-9.]+) ", line)
    assert found, line
    return float(found[1])
