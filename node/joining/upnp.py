"""Asks the router to let strangers through to this node's port: UPnP IGD mappings for IPv4, pinholes for IPv6.

Wraps `async-upnp-client`. Mappings have a lease, are renewed at half of it and removed when the node stops; a router
that knows permanent ones only gets these. Whether it helped is for peers to say (dht/reachability/autonat.py). A
machine that answers on the LAN as a router is asked within bounds: private addresses, short answers, no redirects.
"""

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import sample
from urllib.parse import urlsplit

import aiohttp
from async_upnp_client.client import UpnpRequester
from async_upnp_client.client_factory import UpnpFactory
from async_upnp_client.const import HttpRequest, HttpResponse
from async_upnp_client.exceptions import UpnpActionError, UpnpCommunicationError, UpnpError
from async_upnp_client.profiles.igd import IgdDevice

from dht import Endpoint

log = logging.getLogger(__name__)

LEASE_S = 3600
RENEW_S = LEASE_S / 2
SEARCH_S = 3
ASK_S = 5.0  # one request to a router
STOP_S = 3.0  # for removing what was mapped, at the end
MAX_ANSWER_BYTES = 256 << 10  # descriptions of routers have some 20 kB
ONLY_PERMANENT = 725  # WANIPConnection's error OnlyPermanentLeasesSupported
# Of WANIPConnection:2 and what routers make of it: not authorized, action failed, the two conflicts.
PORT_REFUSED = frozenset((606, 501, 718, 729))
OTHER_PORTS = range(49_152, 65_536)  # RFC 6335: nobody's own
TRIES = 8
PROTOCOLS = {"UDP": 17, "TCP": 6}
DESCRIPTION = "dse-node"


class _Anybody(ipaddress.IPv4Address):
    """Stands for every remote host, whose name in the standard is the empty string."""

    @property
    def exploded(self) -> str:
        return ""

    def __str__(self) -> str:
        return ""


ANYBODY = _Anybody(0)


@dataclass(slots=True)
class GrantedMappings:
    """Holds what a router opened for this node."""

    router: IgdDevice
    v4: list[tuple[int, str]] = field(default_factory=list)  # the router's port, protocol
    pinholes: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [f"{protocol} {port}" for port, protocol in self.v4]
        return ", ".join([*parts, *([f"{len(self.pinholes)} IPv6 pinholes"] if self.pinholes else [])]) or "nothing"


class UpnpMapping:
    """Keeps the ports of one node open at the router."""

    def __init__(
        self,
        listening: Sequence[Endpoint],
        own_addresses: Callable[[], Sequence[Endpoint]],
        description_url: str = "",
    ) -> None:
        """`own_addresses`: where peers see this node. `description_url`: of the router; "": search the LAN for it."""
        self._ports = {e.family: e.udp_port for e in listening}
        self._own_addresses, self._url = own_addresses, description_url
        self._outside = self._ports.get(4, 0)  # the router's port for both protocols

    async def run(self) -> None:
        """Keep the ports mapped until cancelled, then remove the mappings."""
        said, mapped = "", None
        try:
            while True:
                mapped = await self._map()
                news = f"ports mapped by the router: {mapped}" if mapped else "no router here maps ports"
                if news != said:
                    said = news
                    log.info("%s", news)
                await asyncio.sleep(RENEW_S)
        finally:
            if mapped is not None:
                with suppress(TimeoutError, UpnpError):
                    async with asyncio.timeout(STOP_S):
                        await _unmap(mapped)

    async def _map(self) -> GrantedMappings | None:
        """Ask for mappings at the first router that grants any; return None where there is none."""
        for url in [self._url] if self._url else await _search():
            try:
                router = IgdDevice(await UpnpFactory(_Requester(url), non_strict=True).async_create_device(url), None)
                mapped = await self._map_at(router, url)
            except (UpnpError, OSError, ValueError) as error:
                log.debug("router not usable url=%s reason=%s", url, error)
                continue
            if mapped.v4 or mapped.pinholes:
                return mapped
        return None

    async def _map_at(self, router: IgdDevice, url: str) -> GrantedMappings:
        mapped = GrantedMappings(router)
        here = ipaddress.ip_address(_address_towards(urlsplit(url).hostname or ""))
        if 4 in self._ports and isinstance(here, ipaddress.IPv4Address):
            await self._map_both(mapped, here)
        six = next((e for e in self._own_addresses() if e.family == 6), None)
        if six is not None:
            for number in PROTOCOLS.values():
                with suppress(UpnpActionError):  # a router without a firewall for IPv6, or one that keeps it shut
                    there, lease = ipaddress.IPv6Address(six.host), timedelta(seconds=LEASE_S)
                    pinhole = await router.async_add_pinhole(ANYBODY, 0, there, six.udp_port, number, lease)  # type: ignore[arg-type]
                    mapped.pinholes += [pinhole] if pinhole is not None else []
        return mapped

    async def _map_both(self, mapped: GrantedMappings, here: ipaddress.IPv4Address) -> None:
        """Map one port of the router for both protocols: that of the node, or else another that the router lets it
        have. Raises UpnpActionError where it gives none."""
        others = sample(OTHER_PORTS, TRIES - 1)
        for outside in (self._outside, *others):
            try:
                for protocol in PROTOCOLS:
                    await _add_mapping(mapped.router, outside, protocol, self._ports[4], here)
                    mapped.v4.append((outside, protocol))
            except UpnpActionError as error:
                await _unmap(mapped)
                mapped.v4.clear()
                if error.error_code not in PORT_REFUSED or outside == others[-1]:
                    raise
            else:
                self._outside = outside
                return


def listens_everywhere(listening: Sequence[Endpoint]) -> bool:
    """Tell whether a node takes what comes to any address of its machine: only then may a router send it strangers."""
    return any(ipaddress.ip_address(e.host).is_unspecified for e in listening)


async def _add_mapping(router: IgdDevice, outside: int, protocol: str, port: int, here: ipaddress.IPv4Address) -> None:
    """Map a port with a lease, or for good where the router knows nothing else."""
    for lease_s in (LEASE_S, 0):
        try:
            lease = timedelta(seconds=lease_s)
            await router.async_add_port_mapping(ANYBODY, outside, protocol, port, here, True, DESCRIPTION, lease)
            return
        except UpnpActionError as error:
            if error.error_code != ONLY_PERMANENT or not lease_s:
                raise


async def _unmap(mapped: GrantedMappings) -> None:
    for port, protocol in mapped.v4:
        await mapped.router.async_delete_port_mapping(ANYBODY, port, protocol)
    for pinhole in mapped.pinholes:
        await mapped.router.async_delete_pinhole(pinhole)


async def _search() -> list[str]:
    """Search the LAN by SSDP for routers; return their description URLs, those on private addresses only."""
    try:
        answers = await IgdDevice.async_search(timeout=SEARCH_S)
    except OSError as error:
        log.debug("no search for routers reason=%s", error)
        return []
    return sorted({url for answer in answers if _is_private(url := str(answer.get("location", "")))})


def _is_private(url: str) -> bool:
    try:
        return urlsplit(url).scheme == "http" and ipaddress.ip_address(urlsplit(url).hostname or "").is_private
    except ValueError:
        return False


def _address_towards(host: str) -> str:
    """Return the own address from which packets to a host would go; nothing is sent."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect((host, 9))
        return str(sock.getsockname()[0])


class _Requester(UpnpRequester):
    """Carries the library's requests to one router and nowhere else, within bounds: descriptions may name any URL."""

    def __init__(self, url: str) -> None:
        self._place = urlsplit(url)[:2]

    async def async_http_request(self, http_request: HttpRequest) -> HttpResponse:
        """Send one request to the router; raises UpnpCommunicationError."""
        ask = http_request
        if urlsplit(ask.url)[:2] != self._place:
            raise UpnpCommunicationError(message=f"{ask.url} is not at the router")
        try:
            async with (
                asyncio.timeout(ASK_S),
                aiohttp.ClientSession(trust_env=False) as session,
                session.request(
                    ask.method, ask.url, headers=dict(ask.headers or {}), data=ask.body, allow_redirects=False
                ) as answer,
            ):
                body = await answer.content.read(MAX_ANSWER_BYTES + 1)
                while len(body) <= MAX_ANSWER_BYTES and (more := await answer.content.read(MAX_ANSWER_BYTES)):
                    body += more
                if len(body) > MAX_ANSWER_BYTES:
                    raise UpnpCommunicationError(message=f"{ask.url}: an answer of over {MAX_ANSWER_BYTES} bytes")
                return HttpResponse(answer.status, answer.headers, body.decode("utf-8", "replace"))
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise UpnpCommunicationError(message=f"{ask.url}: {error or type(error).__name__}") from error
