"""TXT records of one name, asked of this machine's name servers within bounds of time, size and number.

Wraps dnspython, which takes 7 MB and is loaded when somebody asks first. Only that one name is asked for: nothing is
added to it, and no name that an answer mentions is looked up. A long answer comes by TCP. A failed look-up is told
apart from a name that has no record, since it may be this machine's lack.
"""

import asyncio
from collections import OrderedDict

from crawl.config import CrawlConfig, name_server
from dht import Clock

WITHIN_S = 5.0  # for one answer, the wait for a turn included: as long as resolvers try by themselves
AT_ONCE = 8  # names asked for; slow name servers of strangers hold up no more than this
KEPT_S = 30.0  # an answer serves all who ask for it just now, but that there is none: a record may be made any moment
MAX_NAMES = 1_000  # answers kept, at most 4 MB
MAX_RECORDS = 16  # of one name that begin with what is looked for; further ones are not read
MAX_BYTES = 4_096  # of these together

Texts = tuple[str, ...]


class TxtRecords:
    """Finds the TXT records of names, by `crawl.txt_servers` or else those of /etc/resolv.conf."""

    def __init__(self, config: CrawlConfig, clock: Clock) -> None:
        self._servers, self._clock = [name_server(text) for text in config.txt_servers], clock
        self._may_ask = bool(config.dns or self._servers)
        self._kept: OrderedDict[tuple[str, str], tuple[float, Texts | None]] = OrderedDict()
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def find(self, name: str, beginning: str) -> Texts | None:
        """Return the TXT records of a name that begin so, in the order of their text; () where there are none, None
        where that could not be found out. Never raises."""
        if not self._may_ask:
            return ()
        until, texts = self._kept.get((name, beginning), (0.0, None))
        if until > self._clock().steady:
            return texts
        try:
            async with asyncio.timeout(WITHIN_S), self._turns:
                found = await self._ask(name)
        except TimeoutError:
            found = None
        texts = None if found is None else _bounded(sorted(text for text in found if text.startswith(beginning)))
        if texts != ():
            self._kept[name, beginning] = self._clock().steady + KEPT_S, texts
            self._kept.move_to_end((name, beginning))
            if len(self._kept) > MAX_NAMES:
                self._kept.popitem(last=False)
        return texts

    async def _ask(self, name: str) -> list[str] | None:
        from dns import asyncresolver, exception, nameserver, rdatatype, resolver
        from dns import name as names

        try:
            asked = names.Name((*(label.encode() for label in name.split(".")), b""))
        except (exception.DNSException, UnicodeError):  # it is too long, or no name at all: nobody can have it
            return []
        try:
            servers = asyncresolver.Resolver(configure=not self._servers)  # the system's file may have changed since
            if self._servers:
                servers.nameservers = [nameserver.Do53Nameserver(*server) for server in self._servers]
            answer = await servers.resolve(asked, rdatatype.TXT, lifetime=WITHIN_S, search=False)
        except (resolver.NXDOMAIN, resolver.NoAnswer):
            return []
        except (exception.DNSException, OSError, EOFError):
            return None
        return [b"".join(record.strings).decode("ascii", "replace") for record in answer]


def _bounded(texts: list[str]) -> Texts:
    """Return the first of these texts that fit the bounds: MAX_RECORDS texts, and MAX_BYTES together."""
    kept: list[str] = []
    room = MAX_BYTES
    for text in texts[:MAX_RECORDS]:
        room -= len(text)
        if room < 0:
            break
        kept.append(text)
    return tuple(kept)
