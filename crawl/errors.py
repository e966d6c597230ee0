"""Defines the errors of crawling, told apart by whose fault they are.

Pure: values only. The site's fault (`RemoteError`), the asker's (`InputError`) or this machine's (`LocalError`).
"""

from dataclasses import dataclass

from dht import InputError, MachineRefuses, RemoteError


@dataclass(eq=False)
class BadUrl(InputError):
    """A text is no URL that this search engine can fetch."""

    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.text[:200]!r} cannot be crawled: {self.reason}; give an http or https URL such as https://example.org/"


@dataclass(eq=False)
class BadExclude(InputError):
    """A pattern of what a crawl leaves out cannot be used."""

    pattern: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"exclude: {self.pattern[:200]!r} {self.reason}; {self.remedy}"


@dataclass(eq=False)
class BadHostsFile(InputError):
    """The file named by `crawl.hosts_file` cannot be used."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        if not self.line:
            return f"crawl.hosts_file: {self.path}: {self.reason}; name a text file that can be read, or leave it out"
        where = f"{self.path}, line {self.line}"
        return f"crawl.hosts_file: {where}: {self.reason}; a line joins a name and its IP addresses"


@dataclass(eq=False)
class UrlFailed(RemoteError):
    """Nothing came of a URL; `reason` says why."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


_ANSWERED = ("protocol", "body", "coding")  # the first word of such reasons


class FetchFailed(UrlFailed):
    """No usable response came: the connection, the protocol, the coding or the deadline failed."""

    @property
    def has_answered(self) -> bool:
        """Whether the host did answer, though in a way that cannot be read: the page is lost, the host is not down."""
        return self.reason.partition(":")[0] in _ANSWERED


class BodyUnreadable(FetchFailed):
    """The host answered, but with what cannot be read, such as a body in a broken coding, or redirects without end: no
    use in asking again soon."""

    @property
    def has_answered(self) -> bool:
        """True, whatever the reason."""
        return True


class FetchDeclined(FetchFailed):
    """Nobody who may make this request did: this node's operator refuses it, and no other owner took it."""


@dataclass(eq=False)
class AddressRefused(RemoteError):
    """Every address of a host is one that a crawler must not contact (loopback, private, link-local…)."""

    host: str
    address: str
    reason: str

    def __str__(self) -> str:
        return f"{self.host} is at {self.address}, {self.reason}"


@dataclass(eq=False)
class AddressDenied(AddressRefused):
    """A rule of the strategy, or this node's operator, lets nobody contact a host at any of its addresses. Where it is
    the operator, other nodes may."""

    by_operator: bool = False

    def __str__(self) -> str:
        return self.reason


@dataclass(eq=False)
class FamilyMissing(RemoteError):
    """A host has only addresses of a family that does not work on this machine: no fault of the host, and another node
    may fetch it."""

    host: str
    family: int  # 4 or 6: the version that the host has

    def __str__(self) -> str:
        return f"{self.host} is reached by IPv{self.family} alone, which no node that is there now has"


class ParserUnavailable(MachineRefuses):
    """A parser process cannot be started on this machine now."""

    def __init__(self, reason: str) -> None:
        super().__init__("parser process", f"does not start: {reason}", "crawl.parser_processes = 0 parses without one")


class PageUnreadable(UrlFailed):
    """A page stalled or crashed both parsers; nothing else was lost with it."""


class BodyUnfit(PageUnreadable):
    """No engine can read a page: its codings are broken, it is too large, or not what its type says."""


@dataclass(eq=False)
class SlotLost(RemoteError):
    """A slot's lease went before its owners acknowledged: the URL is left to whoever holds the slot now."""

    slot: int

    def __str__(self) -> str:
        return f"slot {self.slot} is no longer held here"
