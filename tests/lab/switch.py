"""The switch joins the hosts: the programs in switch.c and nat.c, compiled here, and the orders that they take."""

import random
import socket
import subprocess
import tempfile
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

_folder = tempfile.TemporaryDirectory(prefix="dse-lab-")  # removed when this process ends
SOURCES = [str(Path(__file__).with_name(name)) for name in ("switch.c", "nat.c")]


@dataclass(frozen=True)
class Link:
    """How packets go from one host to another, that way alone. Shares are 0 … 1."""

    delay_s: float = 0.0
    jitter_s: float = 0.0  # up to so much more
    loss: float = 0.0
    reorder: float = 0.0  # this share is so late that others overtake it
    mtu: int = 0  # larger packets are lost; 0: none are
    tells: bool = False  # whether "packet too big" goes back for them
    is_cut4: bool = False
    is_cut6: bool = False


@dataclass(frozen=True)
class Line:
    """The line from one host to all others. `up_bytes`, `down_bytes`: bytes a second, 0: no limit."""

    is_up: bool = True
    up_bytes: float = 0.0
    down_bytes: float = 0.0
    queue_s: float = 0.5  # more than this waits nowhere: it is lost


class Switch:
    """Runs the program; it ends with this process, however that ends."""

    def __init__(self, seed: int) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._orders.settimeout(10)
        self._process = subprocess.Popen([_program()], stdin=theirs, start_new_session=True)
        theirs.close()
        self._ports = 0
        self.order("seed", random.Random(seed).getrandbits(30))

    def order(self, *words: object, device: int | None = None) -> str:
        """Give one order; raises ValueError with the program's words where it is wrong."""
        text = " ".join(str(int(word)) if isinstance(word, bool) else str(word) for word in words)
        socket.send_fds(self._orders, [text.encode()], [] if device is None else [device])
        answer = self._orders.recv(200).decode()
        if not answer.startswith("ok"):
            raise ValueError(f"{text}: {answer or 'the switch has ended'}")
        return answer[3:]

    def add_port(self, device: int) -> int:
        """Join a TUN device; return its number."""
        self.order("port", self._ports, device=device)
        self._ports += 1
        return self._ports - 1

    def set_link(self, source: int, to: int, link: Link) -> None:
        """Change the way from one port to another."""
        self.order("link", source, to, *(getattr(link, field.name) for field in fields(link)))

    def set_line(self, port: int, line: Line) -> None:
        """Change what joins a port to all others."""
        self.order("host", port, *(getattr(line, field.name) for field in fields(line)))

    def counts(self) -> tuple[int, int, int]:
        """Packets and bytes carried, packets dropped."""
        carried, size, dropped = self.order("count").split()
        return int(carried), int(size), int(dropped)

    @property
    def process_id(self) -> int:
        """The program's process, for measuring it."""
        return self._process.pid

    def close(self) -> None:
        """End the program."""
        self._orders.close()
        self._process.wait(10)


@cache
def _program() -> str:
    """Compile it, once for all tests."""
    program = f"{_folder.name}/switch"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, *SOURCES], check=True)
    return program
