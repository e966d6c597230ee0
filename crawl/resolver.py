"""From a host name to addresses that a crawler may contact: hosts file first, then the system's resolver.

The filter sits here, behind every name that the HTTP client looks up, so that no redirect, cache or second look-up
can lead a request past it. Answers are kept for `dns_ttl_s`; so are failures, for a shorter time.
"""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

from aiohttp.abc import AbstractResolver, ResolveResult

from crawl.addresses import refuse_address
from crawl.config import CrawlConfig
from crawl.errors import AddressRefused, FamilyMissing
from dht import Clock

MAX_NAMES = 20_000  # kept at once; 300 bytes each
MAX_ADDRESSES = 16  # of one name; more are never tried
FAILURE_TTL_S = 30.0  # a name that was not found is not asked for again so soon
_FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}


class Resolver(AbstractResolver):
    """aiohttp's resolver. Raises AddressRefused and FamilyMissing; OSError for names that have no address."""

    def __init__(self, config: CrawlConfig, hosts: Mapping[str, Sequence[str]], clock: Clock) -> None:
        self._config, self._hosts, self._clock = config, hosts, clock
        self._kept: OrderedDict[str, tuple[float, tuple[str, ...]]] = OrderedDict()  # name: (until, addresses)
        self._threads = ThreadPoolExecutor(config.dns_threads, "crawl-dns")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Addresses of a name in the families that this node uses, IPv6 first where the system says so."""
        usable = usable_addresses(host, await self._addresses(host), self._config)
        return [_result(host, address, port) for address in usable]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _addresses(self, host: str) -> tuple[str, ...]:
        """All addresses of a name; raises OSError where it has none."""
        name = host.lower().rstrip(".")
        if name in self._hosts:
            return tuple(self._hosts[name])
        now = self._clock().steady
        until, addresses = self._kept.get(name, (0.0, ()))
        if until <= now:
            addresses = await self._ask(name)
            self._keep(name, addresses, now + (self._config.dns_ttl_s if addresses else FAILURE_TTL_S))
        if not addresses:
            raise OSError(f"no address is known for {host}")
        return addresses

    async def _ask(self, name: str) -> tuple[str, ...]:
        if not self._config.dns:
            return ()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _look_up, name)

    def _keep(self, name: str, addresses: tuple[str, ...], until: float) -> None:
        self._kept[name] = (until, addresses)
        self._kept.move_to_end(name)
        if len(self._kept) > MAX_NAMES:
            self._kept.popitem(last=False)


def usable_addresses(host: str, addresses: Sequence[str], config: CrawlConfig) -> list[str]:
    """Those of a host's addresses that may be contacted, in the families that this node uses.

    Raises AddressRefused where none may be contacted, FamilyMissing where only other families remain.
    """
    reasons = {address: refuse_address(address, allow_private=config.allow_private) for address in addresses}
    allowed = [address for address, reason in reasons.items() if not reason]
    if not allowed:
        address, reason = next(iter(reasons.items()))
        raise AddressRefused(host, address, reason)
    usable = [address for address in allowed if ip_address(address).version in config.families]
    if not usable:
        raise FamilyMissing(host, ip_address(allowed[0]).version)
    return usable


def _look_up(name: str) -> tuple[str, ...]:
    """Ask the system; () where it knows no such name. Blocks."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # unknown, no answer, or a label that IDNA cannot hold
        return ()
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))[:MAX_ADDRESSES]


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = _FAMILIES[ip_address(address).version]
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)
