"""Writes the systemd unit that runs a node: told when it is ready, watched, started again, and shut in.

Pure: values in, text out. The options are those of systemd.service(5), systemd.exec(5) and systemd.kill(5).
"""

from dataclasses import dataclass

from node.errors import BadUnit

NAME = "dse-node.service"
MARK = "# Written by `dse-node service install`; `dse-node service remove` takes it away."
PACKAGED_MARK = (
    "# Of the package dse-node, which takes it away; `systemctl edit dse-node` changes what you need changed."
)
PACKAGED_PROGRAM = "/usr/bin/dse-node"
STATE_DIR = "/var/lib/dse-node"  # where a system unit keeps a node that belongs to nobody else
RESTART_S = 2  # and a start takes one more: a killed node answers again within 5 s
WATCHDOG_S = 60  # of a silent loop, whose longest steps take parts of a second; a machine that swaps is forgiven
START_S = 900  # a damaged index of the store is rebuilt before the node is ready
STOP_S = 30  # a clean stop takes up to 5 s on an idle machine
OPEN_FILES = 65_536  # as many as `dse-node run` asks for
FINAL_CODES = "2 4 78"  # wrong command, another machine with the same identity, wrong configuration: a restart is vain

_EVERYWHERE = """\
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
"""
_NAMESPACES = """\
CapabilityBoundingSet=
AmbientCapabilities=
PrivateDevices=yes
PrivateTmp=yes
PrivateUsers=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
RemoveIPC=yes
"""


@dataclass(frozen=True, slots=True)
class ServiceUnit:
    """Says what a unit runs, for whom, and how far this system can shut it in.

    `command`: program and arguments. `owner`: the account of a system unit; "" for one that systemd makes up for it,
    whose data lies in STATE_DIR. `has_namespaces`: whether this system lets the unit have namespaces of its own.
    `is_packaged`: whether a package of the system brings it."""

    command: tuple[str, ...]
    data_dir: str
    working_dir: str = ""
    is_system: bool = False
    owner: str = ""
    has_namespaces: bool = True
    is_packaged: bool = False

    def text(self) -> str:
        """Return the unit's file; raises BadUnit."""
        mark = PACKAGED_MARK if self.is_packaged else MARK
        return "\n".join((mark, self._unit(), self._service(), self._install()))

    def _unit(self) -> str:
        network = "Wants=network-online.target\nAfter=network-online.target\n" if self.is_system else ""
        return (
            "[Unit]\nDescription=dse-node, a node of a distributed web search engine\n"
            f"{network}StartLimitIntervalSec=0\n"  # a disk that is full for a day must not end a node for good
        )

    def _service(self) -> str:
        where = f"WorkingDirectory={_path(self.working_dir)}\n" if self.working_dir else ""
        return (
            "[Service]\nType=notify\nNotifyAccess=main\n"
            f"ExecStart={' '.join(map(_word, self.command))}\n{where}"
            f"Restart=on-failure\nRestartSec={RESTART_S}\nRestartPreventExitStatus={FINAL_CODES}\n"
            f"WatchdogSec={WATCHDOG_S}\nTimeoutStartSec={START_S}\nTimeoutStopSec={STOP_S}\n"
            "KillMode=mixed\nOOMPolicy=continue\n"  # a parser that takes too much memory costs a page, not the node
            f"LimitNOFILE={OPEN_FILES}\nLimitCORE=0\n"
            f"{self._place()}{_EVERYWHERE}{_NAMESPACES if self.has_namespaces else ''}"
        )

    def _place(self) -> str:
        """Say whose the process is and where alone it writes."""
        if not self.is_system:
            return f"ReadWritePaths={_quoted(self.data_dir)}\nProtectHome=read-only\n" if self.has_namespaces else ""
        if not self.owner:
            return "DynamicUser=yes\nStateDirectory=dse-node\nStateDirectoryMode=0700\nProtectHome=yes\n"
        return f"User={self.owner}\nReadWritePaths={_quoted(self.data_dir)}\nProtectHome=yes\n"

    def _install(self) -> str:
        return f"[Install]\nWantedBy={'multi-user.target' if self.is_system else 'default.target'}\n"


PACKAGED = ServiceUnit(
    (PACKAGED_PROGRAM, "run", "--data-dir", STATE_DIR), STATE_DIR, is_system=True, owner="dse-node", is_packaged=True
)


def _word(text: str) -> str:
    """Write one word of a command line, as systemd.service(5) reads it."""
    return _quoted(text.replace("$", "$$"))


def _quoted(text: str) -> str:
    """Write one word of a list, as systemd.syntax(7) has it."""
    escaped = _path(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if any(sign in escaped for sign in " \\;'\"") else escaped


def _path(text: str) -> str:
    if not text.isprintable():
        raise BadUnit(repr(text), "has signs that no unit takes", "move it to another path")
    return text.replace("%", "%%")
