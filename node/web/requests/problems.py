"""Turns errors into RFC 9457 problems: one value, shown as JSON by the API and as a page to people.

Pure: values only. Paths and internals never get in, since strangers read problems; the log has them.
"""

from dataclasses import dataclass
from http import HTTPStatus

from dht import InputError, LocalError, PeerTimeout, RemoteError
from index import QueryError
from node.api.body import ResponseBody
from node.errors import NoRoom, NotJoined
from node.service.search_queue import TooBusy
from node.views.safe_text import plain
from store import NoReadyOwner, NotGranted, TooFewCopies

MEDIA_TYPE = "application/problem+json"
MAX_FLAW = 80  # characters of what a library says
_UNAVAILABLE: dict[type, str] = {  # the network is as it should be, but too few of it are there
    TooFewCopies: "Too few members of the network answer to keep this safely; try again when they are back.",
    NotGranted: "The members that must agree to this write do not answer; try again when they are back.",
    NoReadyOwner: "No node that keeps this part of the network answers; try again when one is back.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Holds a status, one line for people, and the offset into the query where that is the matter."""

    status: int
    detail: str
    position: int | None = None
    retry_after_s: int | None = None

    @property
    def title(self) -> str:
        """Return the status's own words."""
        return HTTPStatus(self.status).phrase

    def body(self) -> "ProblemDetails":
        """Return the body that programs get."""
        return ProblemDetails(status=self.status, title=self.title, detail=self.detail, position=self.position)


class ProblemDetails(ResponseBody, omit_defaults=True):
    """The body of an error (RFC 9457, about:blank left out). `position`: the offset of the flaw in the query."""

    status: int
    title: str
    detail: str
    position: int | None = None


@dataclass(eq=False)
class BadParameter(InputError):
    """Says that a request lacks a parameter, has one too many or one out of bounds."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def unreadable(message: str) -> Problem:
    """Return the problem of a request that is no HTTP, given what the web library says: a line, then what it read."""
    flaw = plain(message.partition("\n")[0].rstrip(".: "), MAX_FLAW)
    remedy = ""
    if "url" in flaw or "status line" in flaw:  # letters or spaces as they are typed
        remedy = " An address has %-encoded UTF-8 instead of spaces and of letters such as é: caf%C3%A9."
    return Problem(400, f"This request cannot be read as HTTP: {flaw}.{remedy}")


def problem_of(error: Exception) -> Problem | None:
    """Return the problem that one of our errors is, None for any other exception, which nobody foresaw."""
    if isinstance(error, InputError):
        return Problem(400, plain(error), error.position if isinstance(error, QueryError) else None)
    if isinstance(error, PeerTimeout | TimeoutError):
        return Problem(504, "The network did not answer in time; ask again.", retry_after_s=1)
    if isinstance(error, tuple(_UNAVAILABLE)):
        return Problem(503, _UNAVAILABLE[type(error)], retry_after_s=10)
    if isinstance(error, RemoteError):
        return Problem(502, "A peer answered with something unusable; ask again.", retry_after_s=1)
    if isinstance(error, TooBusy):
        return Problem(429, str(error), retry_after_s=error.retry_after_s)
    if isinstance(error, NotJoined | NoRoom):
        return Problem(503, plain(error), retry_after_s=10)
    if isinstance(error, LocalError):
        return Problem(503, "This node cannot do that now; its log says why.", retry_after_s=10)
    return None
