"""Errors by whose fault they are; that decides what happens next.

Pure: values only. `RemoteError`: a peer or site failed or lied: note it, back off, go on. `InputError`: the
person asking can fix it. `LocalError`: this machine failed: stop loudly, but for `MachineRefuses`, which may pass. Each
package adds its own below these.
"""

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


class PortMissing(LocalError):
    """A port of this node that another program has. Once the node has had it, it tries again."""


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
