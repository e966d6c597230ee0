"""From a host name to addresses that a crawler may contact: hosts file first, then the system's resolver.

The filter and the rules by address sit here, behind every name that the HTTP client looks up. No redirect, cache or
second look-up can lead a request past them. The client connects to the addresses that come from here, never to
the name. The system does not say how long an answer holds, so answers are kept for `dns_ttl_s`; so are failures, for a
shorter time. Two requests for one name at one time wait for the same answer.
"""

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address

from aiohttp.abc import AbstractResolver, ResolveResult

from crawl.config import CrawlConfig
from crawl.errors import AddressDenied, AddressRefused, BadHostsFile, FamilyMissing
from crawl.fetch.address_filter import refuse_address
from crawl.fetch.fetch_meter import FetchMeter
from crawl.fetch.response import JudgeAddress, permitted
from dht import Clock, WorkingFamilies, absolute_name


def parse_hosts(text: str, path: str) -> Mapping[str, tuple[str, ...]]:
    """Return each name, in lower case, with its addresses in the order of the file; raises BadHostsFile.

    A line is an address and its names, as in /etc/hosts, or a name and its addresses; its first word tells which."""
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        first = _address(words[0])
        names = words[1:] if first else words[:1]
        addresses = [first] if first else [_address(word) for word in words[1:]]
        if not names or not addresses or not all(addresses):
            raise BadHostsFile(path, number, f"{line.strip()[:80]!r} does not join a name and an IP address")
        for name in names:
            name = name.lower().rstrip(".")
            found[name] = (*found.get(name, ()), *addresses)
    return found


def _address(word: str) -> str:
    """Return the address that a word is, "" where it is none."""
    try:
        return str(ip_address(word))
    except ValueError:
        return ""


MAX_NAMES = 20_000  # kept at once; 300 bytes each
MAX_ADDRESSES = 16  # of one name; more are never tried
FAILURE_TTL_S = 30.0  # a name that was not found is not asked for again so soon
BUSY_TTL_S = 2.0  # the same where the name server gave no answer: it may in a moment
_FAMILIES = {4: socket.AF_INET, 6: socket.AF_INET6}


class Resolver(AbstractResolver):
    """Finds the addresses of names for aiohttp. Raises AddressRefused, FamilyMissing, and OSError for unknown names."""

    def __init__(
        self,
        config: CrawlConfig,
        hosts: Mapping[str, Sequence[str]],
        families: WorkingFamilies,
        clock: Clock,
        meter: FetchMeter | None = None,
    ) -> None:
        self._meter = meter or FetchMeter()
        self._config, self._hosts, self._families, self._clock = config, hosts, families, clock
        self._kept: OrderedDict[str, tuple[float, tuple[str, ...]]] = OrderedDict()  # name: (until, addresses)
        self._asking: dict[str, asyncio.Future[tuple[str, ...] | None]] = {}
        self._threads = ThreadPoolExecutor(config.dns_threads, "crawl-dns")
        self.judge: JudgeAddress = permitted  # by rules that may change while the node runs

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a name in the families that work here, IPv6 first where the system says so."""
        return [_result(host, address, port) for address in await self.usable(host)]

    async def usable(self, host: str) -> list[str]:
        """Return the addresses that may be tried, best first, of a name or of a literal; raises as `resolve`."""
        try:
            addresses: Sequence[str] = [str(ip_address(host))]
        except ValueError:
            addresses = await self._addresses(host)
        return usable_addresses(host, [(each, self._refuse(host, each)) for each in addresses], self._families)

    def deny(self, host: str, address: str) -> AddressDenied | None:
        """Return what to raise where a rule in force now denies to contact a host at this address; else None."""
        return self.judge(host.lower().rstrip("."), address)

    def _refuse(self, host: str, address: str) -> AddressRefused | None:
        reason = refuse_address(address, allow_private=self._config.allow_private)
        return AddressRefused(host, address, reason) if reason else self.deny(host, address)

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _addresses(self, host: str) -> tuple[str, ...]:
        """Return all addresses of a name; raises OSError where it has none."""
        name = host.lower().rstrip(".")
        if name in self._hosts:
            return tuple(self._hosts[name])
        until, addresses = self._kept.get(name, (0.0, ()))
        if until <= self._clock().steady:
            addresses = await self._ask(name)
        if not addresses:
            raise OSError(f"no address is known for {host}")
        return addresses

    async def _ask(self, name: str) -> tuple[str, ...]:
        """Ask the system, once for all who want to know, and keep the answer."""
        if not self._config.dns:
            return ()
        asked = self._asking.get(name)
        if asked is None:
            asked = asyncio.get_running_loop().run_in_executor(self._threads, _look_up, name)
            self._asking[name], began_at = asked, self._clock().steady
            asked.add_done_callback(lambda answer: self._learn(name, began_at, answer))
        return await asyncio.shield(asked) or ()  # one who gives up does not end it for others

    def _learn(self, name: str, began_at: float, answer: "asyncio.Future[tuple[str, ...] | None]") -> None:
        del self._asking[name]
        self._meter.note_lookup(self._clock().steady - began_at)
        if answer.cancelled() or answer.exception():
            return
        found = answer.result()
        ttl_s = BUSY_TTL_S if found is None else self._config.dns_ttl_s if found else FAILURE_TTL_S
        self._kept[name] = (self._clock().steady + ttl_s, found or ())
        self._kept.move_to_end(name)
        if len(self._kept) > MAX_NAMES:
            self._kept.popitem(last=False)


def usable_addresses(
    host: str, judged: Sequence[tuple[str, AddressRefused | None]], families: WorkingFamilies
) -> list[str]:
    """Return those of a host's addresses that may be contacted, and that this machine has a way to. `judged`: each
    address, with what to raise where it must not be contacted.

    Raises AddressRefused where none may be contacted, FamilyMissing where only other families remain."""
    allowed = list(dict.fromkeys(address for address, refused in judged if refused is None))
    if not allowed:
        refusals = [refused for _, refused in judged if refused is not None]
        raise next((each for each in refusals if isinstance(each, AddressDenied) and each.by_operator), refusals[0])
    usable = [address for address in allowed if families.reaches(address)]
    if not usable:
        raise FamilyMissing(host, ip_address(allowed[0]).version)
    return usable


def _look_up(name: str) -> tuple[str, ...] | None:
    """Ask the system; () where it knows no such name, None where it could not find out. Blocks."""
    try:
        found = socket.getaddrinfo(absolute_name(name), None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        return None if error.errno == socket.EAI_AGAIN else ()
    except (OSError, UnicodeError):  # no memory, or a label that IDNA cannot hold
        return ()
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))[:MAX_ADDRESSES]


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = _FAMILIES[ip_address(address).version]
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)
