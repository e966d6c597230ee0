"""Finds whose request a reverse proxy passes on, and by which address it came.

The caller is the nearest address in the proxy's header that is no trusted proxy itself.

Pure: values only. A header's left end is whatever the caller wrote; each proxy adds what it saw at the right. So it is
read from the right, as far as the proxies are trusted, and nothing further. Only one header is looked at, the one that
the proxies write: they pass others on as they came.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

from node.config.settings import NodeConfig
from node.owner.passwords import Role

ProxyHeader = Literal["X-Forwarded-For", "Forwarded"]  # the latter is that of RFC 7239

MAX_HEADER_CHARS = 2048  # of the right end; a chain of proxies has a few addresses
MAX_HOPS = 16
UNKNOWN = "0.0.0.0"
PASSED_ON = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def is_passed_on(headers: Container[str]) -> bool:
    """Tell whether a proxy sent a request, whichever it is: no program of the owner's writes such a header."""
    return any(name in headers for name in PASSED_ON)


class ProxiedCallers:
    """Knows which addresses are proxies in front of this node; nobody is where none is named."""

    def __init__(self, prefixes: Iterable[str], header: ProxyHeader) -> None:
        self._proxies = [ip_network(prefix) for prefix in prefixes]
        self.header = header

    def caller(self, peer: str, lines: Sequence[str]) -> str:
        """Return the address that a request counts for. `peer`: who sent it, `lines`: of the header, in order."""
        return self._outermost(peer, lines)[0]

    def origin(
        self, peer: str, scheme: str, host: str, lines: Callable[[str], Sequence[str]], is_named: Callable[[str], bool]
    ) -> str:
        """Return scheme and host that the caller asked for, as a proxy says them, else as the request has them.

        `lines` gives those of a header; `is_named` tells whether a host is one of this node's names.
        """
        if self.is_proxy(peer):
            if self.header == "Forwarded":
                element = self._outermost(peer, lines("Forwarded"))[1]
                told_scheme, told_host = _forwarded(element, "proto"), _forwarded(element, "host")
            else:
                told_scheme, told_host = _only(lines("X-Forwarded-Proto")), _only(lines("X-Forwarded-Host"))
            scheme = told_scheme.lower() if told_scheme.lower() in _DEFAULT_PORTS else scheme
            host = told_host if is_named(told_host) else host
        return f"{scheme}://{host.removesuffix(_DEFAULT_PORTS[scheme])}"

    def _outermost(self, peer: str, lines: Sequence[str]) -> tuple[str, str]:
        """Return the caller of the outermost trusted proxy, and what that proxy added to the header."""
        if not self.is_proxy(peer):
            return peer, ""
        hops = ",".join(lines)[-MAX_HEADER_CHARS:].rsplit(",", MAX_HOPS)[-MAX_HOPS:] if lines else []
        hop = ""
        for hop in reversed(hops):
            address = _address(hop if self.header == "X-Forwarded-For" else _forwarded(hop, "for"))
            if address is None:
                return UNKNOWN, hop
            peer = str(address)
            if not self.is_proxy(peer):
                return UNKNOWN if address.is_loopback else peer, hop  # it would be this machine, which is not limited
        return peer, hop

    def is_proxy(self, peer: str) -> bool:
        """Tell whether an address is one of the proxies."""
        address = _address(peer) if self._proxies else None
        return address is not None and any(address in network for network in self._proxies)


class ProxyLogins:
    """Knows whom a proxy logged in, by the header that it writes; nobody where no proxy is named for that.

    Only the very sender of a request counts, since a header of addresses is what others say. From anybody else, and
    where the header is there twice, the request is no login.
    """

    def __init__(self, config: NodeConfig) -> None:
        self._proxies = ProxiedCallers(config.web_login_proxies, config.web_proxy_header)
        self._header = config.web_login_header
        viewers: dict[str, Role] = dict.fromkeys(config.web_login_viewers, "viewer")
        self._roles = viewers | dict.fromkeys(config.web_login_owners, "owner")

    def role(self, peer: str, lines: Callable[[str], Sequence[str]]) -> Role | None:
        """Return what a request may do, None where it is no login. `peer`: who sent it, `lines`: those of a header."""
        return self._roles.get(_only(lines(self._header))) if self._proxies.is_proxy(peer) else None


def is_public(caller: str) -> bool:
    """Tell whether a caller comes by the Internet: from an address of no private network and not of this machine, or
    from none that a proxy names."""
    address = _address(caller)
    return address is not None and (address.is_global or caller == UNKNOWN)


def _forwarded(element: str, wanted: str) -> str:
    """Return what an element of `Forwarded` says as `for`, `proto` or `host`, "" where it does not say it once."""
    pairs = (pair.partition("=") for pair in element.split(";"))
    return _only([value.strip().strip('"') for name, _, value in pairs if name.strip().lower() == wanted])


def _only(values: Sequence[str]) -> str:
    return values[0].strip() if len(values) == 1 else ""


def _address(node: str) -> IPv4Address | IPv6Address | None:
    """Read an address, which may have a port, and brackets where it is of IPv6; None where it is none."""
    node = node.strip()
    if node.startswith("["):
        node = node[1:].partition("]")[0]
    elif node.count(":") == 1:
        node = node.partition(":")[0]
    try:
        address = ip_address(node)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
