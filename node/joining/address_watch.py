"""Begins anew what depends on the networks of a machine, whenever its addresses change. A link may come up long after
the node has started; its router and neighbours are asked then."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from ipaddress import IPv6Network

import ifaddr

log = logging.getLogger(__name__)

LOOK_S = 30.0  # some 100 µs each
NET_BITS = 64  # of IPv6: within its net a machine changes its address every day


def nets_of_machine() -> frozenset[str]:
    """Return the IPv4 addresses and IPv6 nets of this machine."""
    found = (ip.ip for adapter in ifaddr.get_adapters() for ip in adapter.ips)
    return frozenset(str(IPv6Network((ip[0], NET_BITS), strict=False)) if isinstance(ip, tuple) else ip for ip in found)


async def while_addresses_stay(
    begin: Callable[[], Awaitable[None]],
    nets: Callable[[], frozenset[str]] = nets_of_machine,
    look_s: float = LOOK_S,
) -> None:
    """Run what `begin` returns until cancelled; cancel and begin it anew when the addresses have changed."""
    while True:
        try:
            async with asyncio.timeout(None) as until_change:
                timer = _watch(until_change, nets, look_s)
                try:
                    await begin()
                    await asyncio.Event().wait()  # it found nothing to do here
                finally:
                    timer()
        except TimeoutError:
            if not until_change.expired():
                raise
            log.info("this machine's addresses have changed; its router and its LAN are asked anew")


def _watch(until_change: asyncio.Timeout, nets: Callable[[], frozenset[str]], look_s: float) -> Callable[[], None]:
    """Look for changes, which end `until_change`; return what stops that."""
    loop, seen = asyncio.get_running_loop(), nets()
    timers: list[asyncio.TimerHandle] = []

    def compare() -> None:
        if nets() != seen:
            until_change.reschedule(loop.time())
        else:
            timers[:] = [loop.call_later(look_s, compare)]

    timers.append(loop.call_later(look_s, compare))
    return lambda: timers[-1].cancel()
