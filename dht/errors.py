"""Errors by whose fault they are; that decides what happens next.

Pure: values only. `RemoteError`: a peer or site failed or lied: note it, back off, go on. `InputError`: the
person asking can fix it. `LocalError`: this machine failed: stop loudly, but for `MachineRefuses`, which may pass. Each
package adds its own below these.
"""

import errno
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

MALFORMED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""A decoder raises these for a stranger's bytes: no such fields, text that is no UTF-8, arrays nested without end."""


class DseError(Exception):
    """The root of every error that this project raises."""


class RemoteError(DseError):
    """A peer or a site failed or lied."""


class InputError(DseError):
    """The person asking can fix it: answer 400, or print one line and exit 2."""


class LocalError(DseError):
    """This machine failed: stop loudly."""


@dataclass(eq=False)
class BrokenFile(LocalError):
    """A file or directory of this machine that cannot be used: which, why, and what to do."""

    path: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}; {self.remedy}"


@dataclass(eq=False)
class PortMissing(LocalError):
    """A port that this node cannot listen on: mostly another program has it. Once the node has had it, it tries
    again. `listener`: transport, address and port."""

    listener: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"cannot listen on {self.listener}: {self.reason}; {self.remedy}"

    @classmethod
    def of(cls, listener: str, error: OSError, port_setting: str, address_setting: str) -> "PortMissing":
        """Return what a failed bind means, and which setting helps."""
        if error.errno == errno.EADDRINUSE:
            return cls(listener, "the port is in use", f"stop the other program or set {port_setting}")
        if error.errno in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
            return cls(listener, "this machine has no such address", f"set {address_setting}")
        if error.errno == errno.EACCES:
            return cls(listener, "not allowed", f"set {port_setting} to a port above 1023")
        return cls(listener, error.strerror or str(error), "check the address and the system's limits")

    @classmethod
    def of_peers(cls, transport: str, host: str, port: int, error: OSError) -> "PortMissing":
        """Return the same for the port where peers reach this node. `transport`: UDP or TCP."""
        return cls.of(f"{transport} {host} port {port}", error, "node.peer_port", "node.families or node.listen_v4/v6")


class MachineRefuses(BrokenFile):
    """This machine refuses a file for now: full, read-only, failing, out of handles. The node goes on with what it can,
    and tries again."""


@dataclass(eq=False)
class PeerTimeout(RemoteError):
    """A peer did not answer in time, or could not be reached at all."""

    peer: str
    waited_s: float
    reason: str = ""  # where it is known

    def __str__(self) -> str:
        return f"peer {self.peer} did not answer within {self.waited_s:.1f} s" + (self.reason and f": {self.reason}")


@dataclass(eq=False)
class BadMessage(RemoteError):
    """A peer's bytes do not decode, break a bound, or are refused by the peer that read them."""

    peer: str
    reason: str

    def __str__(self) -> str:
        return f"bad message between us and peer {self.peer}: {self.reason}"


class TooLittleWork(BadMessage):
    """An identity has less work behind it than the strategy in force asks for."""


class AddressNotAllowed(BadMessage):
    """A heartbeat names an address that the strategy in force does not allow."""


@dataclass(eq=False)
class BadSignature(RemoteError):
    """Something signed does not verify, or not by the key that it should."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


@dataclass(eq=False)
class BadStrategy(InputError):
    """A strategy document or network file that cannot be accepted: the field, the reason, the remedy."""

    field: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}; {self.remedy}"


@dataclass(eq=False)
class BadInvitation(InputError):
    """An invitation that lets nobody in: the reason, the remedy."""

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"the invitation {self.reason}; {self.remedy}"


class BadIdentity(BrokenFile):
    """The node's own key file cannot be read or is damaged."""


def leaves_of(error: BaseException) -> Iterator[BaseException]:
    """List the errors in a group, or the error itself where it is none."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from leaves_of(each)
    else:
        yield error
