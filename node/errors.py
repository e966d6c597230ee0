"""Says what goes wrong around a node: its configuration, its directory, its ports, its web listener.

Pure: values only. Each says what, where and what to do, in one line.
"""

from dataclasses import dataclass

from dht import BrokenFile, InputError, LocalError


@dataclass(eq=False)
class _Flaw(InputError):
    """Says what is wrong with something that a person gave, and what helps."""

    source: str
    problem: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.problem}" + (f"; {self.remedy}" if self.remedy else "")


class ConfigError(_Flaw):
    """Says that a configuration cannot be used; the command line exits with 78 (EX_CONFIG of sysexits.h)."""


@dataclass(eq=False)
class NothingToDo(InputError):
    """Says that a command line parses but gives a verb too little or too much to do."""

    option: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.option} {self.problem}: {self.remedy}"


@dataclass(eq=False)
class NoSuchSlot(InputError):
    """Says that a reader asks for a slot that the network does not have; it has `count`."""

    slot: int
    count: int

    def __str__(self) -> str:
        return f"slot: there is no {self.slot} in this network; ask for 0 to {self.count - 1}"


@dataclass(eq=False)
class RefusedByNode(InputError):
    """Says that a running node refused what a command asked; `position`: an offset into the query where it is one."""

    reason: str
    status: int
    position: int | None = None

    def __str__(self) -> str:
        return self.reason


class NotProved(_Flaw):
    """Says that a removal was not asked for as a site's owner can."""


@dataclass(eq=False)
class NobodyElse(InputError):
    """Says that a node cannot hand over what lies there, because its network has no other member."""

    def __str__(self) -> str:
        return "no other member is there to take what lies here; start one, or end without it: --now"


class BadBackup(_Flaw):
    """Says why a backup cannot be made or restored."""


class BadFeed(_Flaw):
    """Says why a list of releases cannot be used."""


class BadPassword(_Flaw):
    """Says why a password is not taken."""


class BadUnit(_Flaw):
    """Says why no service can be made, or taken away, as it was asked."""


@dataclass(eq=False)
class DataDirLocked(LocalError):
    """Says that another process uses the data directory."""

    path: str
    pid: int | None

    def __str__(self) -> str:
        holder = f"process {self.pid}" if self.pid else "another process"
        return f"{self.path}: in use by {holder}; stop that node first, or give this one its own --data-dir"


class BadDataDir(BrokenFile):
    """Says that a data directory is none, is of another format, or cannot be read or written."""


class NotJoined(LocalError):
    """Says that a node which is apart from its network takes nothing for it."""


class NoRoom(LocalError):
    """Says that no node of a network has room for what is handed in."""


class TwinRuns(LocalError):
    """Says that a node was started though another machine runs with its identity."""


@dataclass(eq=False)
class NotRunning(LocalError):
    """Says that no node answers at the address that the configuration names."""

    url: str
    reason: str
    remedy: str = "start it with `dse-node run`, or name its directory with --data-dir"

    def __str__(self) -> str:
        return f"no node answers at {self.url} ({self.reason}); {self.remedy}"


class HomeNotRunning(NotRunning):
    """Says that the node of a data directory does not answer; `url` is the path of that directory."""

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}; {self.remedy}"


def error_text(error: Exception) -> str:
    """Return what an error says to a person; what the system says of a file without its number."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror[0].lower()}{error.strerror[1:]}"
    return str(error)
