"""Resolves DNS names of first contacts, such as `dse.example.edu:8091`, which may move to another machine.

The names stand in the network file beside the literal addresses and are no part of the network's id. What a name means
is a stranger's word: addresses that the network does not allow are left out by whoever joins them.
"""

import asyncio
import re
import socket

from dht import Address, BadStrategy

LOOK_UP_S = 10.0
MAX_ADDRESSES = 16  # of one name
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
NAME = re.compile(rf"(?=.{{1,253}}:)({_LABEL}(?:\.{_LABEL})*):([0-9]{{1,5}})", re.IGNORECASE)


def parse_name(text: str) -> tuple[str, int]:
    """Split NAME:PORT into name and port; raises BadStrategy for anything else, a literal address included."""
    found = NAME.fullmatch(text)
    if found is None or not 0 < int(found[2]) < 65536 or found[1].replace(".", "").isdigit():
        reason = f"{text[:80]!r} is no name with a port"
        raise BadStrategy("seeds", reason, "write NAME:PORT, such as dse.example.edu:8091; addresses go to bootstrap")
    return found[1], int(found[2])


async def look_up(seed: str) -> tuple[Address, ...]:
    """Return the addresses that a seed's name has now, for UDP; none where they cannot be found."""
    name, port = parse_name(seed)
    try:
        async with asyncio.timeout(LOOK_UP_S):
            found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_DGRAM)
    except (OSError, TimeoutError, UnicodeError):
        return ()
    hosts = (str(address[0]) for family, _, _, _, address in found if family in (socket.AF_INET, socket.AF_INET6))
    return tuple(dict.fromkeys(Address(host, port) for host in hosts if "%" not in host))[:MAX_ADDRESSES]
