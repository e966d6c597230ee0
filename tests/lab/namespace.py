"""A network namespace without a name: it is gone with the last process and handle that it has, however those end."""

import ctypes
import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
DEVICE = "eth0"
_OURS = Path("/proc/thread-self/ns/net")
_libc = ctypes.CDLL(None, use_errno=True)


def why_no_namespaces() -> str:
    """Why this machine cannot run the lab; empty where it can."""
    for tool in ("ip", "gcc"):
        if not shutil.which(tool):
            return f"needs `{tool}`"
    if not hasattr(_libc, "setns"):
        return "needs Linux"
    try:
        os.close(NetworkNamespace().open_tun())
    except (OSError, subprocess.CalledProcessError) as error:
        return f"needs the right to make network namespaces and TUN devices (root): {error}"
    return ""


class NetworkNamespace:
    """A network of its own with a loopback; processes and sockets made within `entered` live in it."""

    def __init__(self) -> None:
        ours = os.open(_OURS, os.O_RDONLY)
        try:
            _call(_libc.unshare, CLONE_NEWNET)
            try:
                self._handle = os.open(_OURS, os.O_RDONLY)
            finally:
                _call(_libc.setns, ours, CLONE_NEWNET)
        finally:
            os.close(ours)
        self.ip("link set lo up")

    @contextmanager
    def entered(self) -> Iterator[None]:
        """This thread is in the namespace meanwhile: nothing may be awaited."""
        ours = os.open(_OURS, os.O_RDONLY)
        try:
            _call(_libc.setns, self._handle, CLONE_NEWNET)
            try:
                yield
            finally:
                _call(_libc.setns, ours, CLONE_NEWNET)
        finally:
            os.close(ours)

    def ip(self, *commands: str) -> None:
        """Do what `ip` does, such as "route add default dev eth0", one command after the other."""
        with self.entered():
            batch = "".join(f"{command}\n" for command in commands)
            done = subprocess.run(["ip", "-batch", "-"], input=batch, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"{commands}: {done.stderr}")

    def set(self, values: Sequence[tuple[str, str]]) -> None:
        """Write kernel settings, such as ("ipv6/conf/eth0/disable_ipv6", "1")."""
        with self.entered():
            for name, value in values:
                Path("/proc/sys/net", name).write_text(value)

    def open_tun(self) -> int:
        """Make the device and return its handle: what the namespace sends is read there, what is written arrives."""
        with self.entered():
            handle = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
            fcntl.ioctl(handle, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
        return handle

    def close(self) -> None:
        """Let go of it."""
        os.close(self._handle)


def _call(function: Callable[..., int], *arguments: int) -> None:
    if function(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} (network namespaces)")
