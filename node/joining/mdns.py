"""Finds nodes of the same network on the same LAN by mDNS (RFC 6762), without any server.

Wraps `zeroconf`. A node announces `_dse-node._udp.local.` with the first half of its network's id and its port, and
sends a first packet to whoever announces the same. That is first contact only: who a neighbour is, it proves as
everybody does, and its private addresses are announced to others only where the strategy declares them.
"""

import asyncio
import ipaddress
import logging
from collections.abc import Callable, Iterable, Sequence

import ifaddr
from zeroconf import Error as ZeroconfError
from zeroconf import IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from dht import Address, Endpoint, NodeId

log = logging.getLogger(__name__)

SERVICE = "_dse-node._udp.local."
VERSION = b"1"
ID_CHARS = 20  # of the network's id: enough to tell networks apart
RESOLVE_MS = 3000
MAX_WAITING = 64  # announcements not looked at yet; more are heard again when they are repeated
MAX_ADDRESSES = 8  # of one neighbour

ADVICE = "node.lan_discovery = false ends this"


def _say_in_one_line(record: logging.LogRecord) -> bool:
    """Change a warning of the library, which has a traceback where an interface has no multicast, to a line of ours."""
    if record.levelno >= logging.WARNING:
        record.msg, record.args = f"LAN discovery: {record.getMessage()}; {ADVICE}", ()
        record.exc_info = record.exc_text = None
    return True


class MdnsDiscovery:
    """Announces one node on the LAN and finds its neighbours, whose addresses go to `join`."""

    def __init__(
        self,
        node_id: NodeId,
        network_id: str,
        listening: Sequence[Endpoint],
        join: Callable[[Sequence[Address]], object],
        interfaces: Sequence[str] = (),
    ) -> None:
        """`network_id`: hex. `listening`: one endpoint a family, of one port. `interfaces`: addresses of those to use;
        none means all but loopback."""
        self._listening, self._join = listening, join
        self._interfaces = list(interfaces) or multicast_interfaces(listening)
        self._id, self._label = network_id[:ID_CHARS].encode(), f"dse-{node_id.hex()[:16]}"
        self._name = f"{self._label}.{SERVICE}"
        self._heard: asyncio.Queue[str] = asyncio.Queue(MAX_WAITING)

    async def run(self) -> None:
        """Announce this node and find others until cancelled; log one line on a machine without multicast."""
        if not self._interfaces:
            return  # nobody can be near
        logging.getLogger("zeroconf").addFilter(_say_in_one_line)
        try:
            zeroconf = AsyncZeroconf(self._interfaces, ip_version=self._version())
        except OSError as error:
            log.warning("no LAN discovery reason=%s; %s", error, ADVICE)
            return
        try:
            await zeroconf.async_register_service(self._announcement(), cooperating_responders=True)
            browser = AsyncServiceBrowser(zeroconf.zeroconf, SERVICE, handlers=[self._hear])
            try:
                while True:
                    await self._contact(zeroconf.zeroconf, await self._heard.get())
            finally:
                await browser.async_cancel()
        except (OSError, ZeroconfError) as error:
            log.warning("no LAN discovery reason=%s; %s", str(error) or type(error).__name__, ADVICE)
        finally:
            await zeroconf.async_close()

    def _version(self) -> IPVersion:
        if len(self._listening) > 1:
            return IPVersion.All
        return IPVersion.V6Only if self._listening[0].family == 6 else IPVersion.V4Only

    def _announcement(self) -> AsyncServiceInfo:
        return AsyncServiceInfo(
            SERVICE,
            self._name,
            port=self._listening[0].udp_port,
            properties={b"v": VERSION, b"net": self._id},
            server=f"{self._label}.local.",
            parsed_addresses=own_addresses(self._listening),
        )

    def _hear(self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if state_change is not ServiceStateChange.Removed and name != self._name and not self._heard.full():
            self._heard.put_nowait(name)

    async def _contact(self, zeroconf: Zeroconf, name: str) -> None:
        """Resolve who announced itself and hand its addresses to `join`, if it is of this network."""
        try:
            found = AsyncServiceInfo(SERVICE, name)
            is_there = await found.async_request(zeroconf, RESOLVE_MS)
            if not is_there or found.properties.get(b"net") != self._id or not found.port:
                return
            addresses = neighbours(found.parsed_addresses(), found.port)
        except (ZeroconfError, ValueError, OSError) as error:
            log.debug("neighbour ignored name=%r reason=%s", name, error)
            return
        if addresses:
            log.debug("neighbour on the LAN name=%r at=%s", name, addresses[0].host)
            self._join(addresses)


def on_lan(listening: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """Return the endpoints that a neighbour could reach: none of a node that listens on loopback alone."""
    return tuple(e for e in listening if not ipaddress.ip_address(e.host).is_loopback)


def own_addresses(listening: Sequence[Endpoint]) -> list[str]:
    """Return where neighbours reach this machine: what it listens on, or for all addresses those of its interfaces."""
    found: list[str] = []
    for endpoint in listening:
        is_any = ipaddress.ip_address(endpoint.host).is_unspecified
        every = [a for a in _interface_addresses(endpoint.family) if not a.is_link_local] if is_any else [endpoint.host]
        found += map(str, every)
    return found[:MAX_ADDRESSES]


def multicast_interfaces(listening: Sequence[Endpoint]) -> list[str]:
    """Return an address of every interface to announce on: all but loopback, where nobody else can be."""
    return [str(address) for endpoint in listening for address in _interface_addresses(endpoint.family)]


def neighbours(hosts: Iterable[str], port: int) -> list[Address]:
    """Return the addresses worth a first packet: unicast ones that mean the same machine everywhere on the LAN."""
    found = []
    for host in hosts:
        address = ipaddress.ip_address(host.partition("%")[0])
        mapped = isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped
        if not (address.is_multicast or address.is_unspecified or address.is_link_local or mapped):
            found.append(Address(str(address), port))
    return found[:MAX_ADDRESSES]


def _interface_addresses(family: int) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """This machine's addresses of one family, without loopback."""
    every = [ip.ip if isinstance(ip.ip, str) else ip.ip[0] for a in ifaddr.get_adapters() for ip in a.ips]
    return [a for a in map(ipaddress.ip_address, every) if a.version == family and not a.is_loopback]
