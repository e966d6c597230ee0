"""Makes a root of its own without a tool that makes systems: this machine's programs, and nothing of the checkout."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.packaging.clean_machine import FETCH_S, need

ACCOUNT = 10001
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
ENTER = """
set -e
root=$1
shift
mount --make-rprivate /
ip link set lo up
mount -t overlay own -o "lowerdir=/usr,upperdir=$root/upper,workdir=$root/work" "$root/usr"
for part in bin lib lib64 sbin; do [ ! -L "/$part" ] || cp -dn "/$part" "$root/"; done
mount --bind /etc "$root/etc"
mount -t proc proc "$root/proc"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
exec chroot "$root" env -i "$@"
"""


class OwnRoot:
    """A folder that becomes `/` for commands. `upper` has what they find in /usr beside this machine's."""

    def __init__(self, folder: Path) -> None:
        need("unshare", "ip", "chroot", "setpriv")
        self.folder, self.upper = folder, folder / "upper"
        for name in ("upper", "work", "usr", "etc", "proc", "dev", "tmp", "opt", "var/lib/dse-node"):
            (folder / name).mkdir(parents=True)
        (folder / "tmp").chmod(0o1777)
        os.chown(folder / "var/lib/dse-node", ACCOUNT, ACCOUNT)
        for name in ("judge_layout.py", "judge_debian.py"):
            shutil.copy(Path(__file__).with_name(name), folder / "tmp")

    def run(self, *command: str, online: bool = False, **around: str) -> str:
        """Run a command as root; without `online` it has a loopback and no other line."""
        apart = ["unshare", "--mount", "--pid", "--fork", *(() if online else ("--net",))]
        named = [f"{name}={value}" for name, value in {"PATH": PATH, **around}.items()]
        enter = [*apart, "sh", "-c", ENTER, "sh", str(self.folder), *named, *command]
        done = subprocess.run(enter, capture_output=True, text=True, timeout=FETCH_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def judge(self, *command: str, **around: str) -> dict[str, Any]:
        """Start a node by a command as ACCOUNT, and return what judge_layout.py saw."""
        account = ("setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups")
        return dict(
            json.loads(self.run(*account, "/usr/bin/python3", "-B", "/tmp/judge_layout.py", *command, **around))
        )
