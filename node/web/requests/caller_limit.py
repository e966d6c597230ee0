"""Limits how often one caller may ask the web listener, by a token bucket for each.

Pure: `now` is an argument, in seconds of the steady clock. A caller is an IPv4 address, or a /64 of IPv6, which one
subscriber has whole. Programs of this machine are not limited: the owner's, and a proxy in front, which has its own.
"""

import math
from ipaddress import IPv6Address, ip_address

from dht import RateLimiter


class CallerLimit:
    """Remembers the last 8,192 callers; who was forgotten has a full bucket again."""

    def __init__(self, per_s: float, burst: int) -> None:
        self._burst = burst
        self._buckets = RateLimiter(per_s, float(burst)) if per_s else None

    def wait_s(self, address: str, now: float, weight: int = 1) -> int:
        """Count a request from an address as `weight` and return 0, or return after how many whole seconds to ask
        again. None counts as more than a full bucket."""
        caller, weight = caller_of(address), min(weight, self._burst)
        if self._buckets is None or caller is None or self._buckets.take(caller, now, weight):
            return 0
        return max(1, math.ceil(self._buckets.wait_s(caller, now, weight)))


def caller_of(address: str) -> bytes | None:
    """Return whom an address stands for: an IPv4 address itself, an IPv6 address its /64; None is this machine."""
    try:
        found = ip_address(address)
    except ValueError:  # no address of a network: a socket in the file system
        return None
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    if found.is_loopback:
        return None
    return found.packed[:8] if isinstance(found, IPv6Address) else found.packed
