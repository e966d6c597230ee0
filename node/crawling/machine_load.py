"""Measures how busy this machine is: readings of the operating system, smoothed into the shares that heartbeats carry.

`LoadMeter` is pure: readings in, shares out. `read_machine` reads Linux's /proc; elsewhere what the system tells
everybody (load average, memory in use by this process), and nothing about the network.
"""

import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from dht import Load

SMOOTH = 0.2  # weight of a new reading; taken every 5 s, the last half minute counts most
LEAST_RATE = 1_250_000.0  # bytes a second that any line is taken to carry, 10 Mbit/s: a quiet node is not at its limit


@dataclass(frozen=True, slots=True)
class MachineReading:
    """How busy the machine was at one moment. Shares 0…1; `moved_bytes`: sent and received since some start, None where
    unknown."""

    cpu: float = 0.0
    memory: float = 0.0
    moved_bytes: int | None = None


class LoadMeter:
    """Smooths readings; the network's share is that of the busiest rate seen so far."""

    def __init__(self) -> None:
        self._cpu = self._memory = 0.0
        self.rate = 0.0  # bytes a second, smoothed
        self._most = LEAST_RATE
        self._last: tuple[float, int] | None = None
        self._taken = 0

    def take(self, now: float, reading: MachineReading, disk: float) -> Load:
        """Return the load after one more reading. `now`: steady seconds; `disk`: the used share of the quota."""
        weight = max(SMOOTH, 1 / (self._taken + 1))
        self._taken += 1
        self._cpu += weight * (min(1.0, reading.cpu) - self._cpu)
        self._memory += weight * (reading.memory - self._memory)
        self.rate += weight * (self._rate_of(now, reading.moved_bytes) - self.rate)
        self._most = max(self._most, self.rate)
        return Load(_percent(self._cpu), _percent(self._memory), _percent(disk), _percent(self.rate / self._most))

    def _rate_of(self, now: float, moved: int | None) -> float:
        """Return bytes a second since the last reading."""
        last, self._last = self._last, (now, moved) if moved is not None else None
        if last is None or moved is None or now <= last[0] or moved < last[1]:
            return 0.0
        return (moved - last[1]) / (now - last[0])


def read_machine(proc: Path = Path("/proc")) -> MachineReading:
    """Read how busy this machine is; what it does not tell is 0 or None."""
    return MachineReading(os.getloadavg()[0] / (os.cpu_count() or 1), _memory(proc), _moved(proc))


def _memory(proc: Path) -> float:
    try:
        fields = dict(line.split(":", 1) for line in (proc / "meminfo").read_text().splitlines() if ":" in line)
        total, free = (int(fields[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
        return 1 - free / total
    except (OSError, ValueError, KeyError, ZeroDivisionError):
        unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        return used / (os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _moved(proc: Path) -> int | None:
    """Return bytes received and sent by all interfaces but loopback."""
    try:
        lines = [line.split(":", 1) for line in (proc / "net" / "dev").read_text().splitlines() if ":" in line]
        counts = [fields.split() for name, fields in lines if name.strip() != "lo"]
        return sum(int(fields[0]) + int(fields[8]) for fields in counts)
    except (OSError, ValueError, IndexError):
        return None


def own_memory(proc: Path = Path("/proc/self/status")) -> int | None:
    """Return the bytes of resident memory that no file backs, where the system tells: what a process allocated.

    Resident memory counts pages of mapped files too, which come and go as index files are merged."""
    try:
        lines = proc.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), None)


def _percent(share: float) -> int:
    return round(100 * min(1.0, max(0.0, share)))
