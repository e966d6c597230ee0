"""Says how evenly pages are spread over groups: top-level domains, registrable domains, sites, networks.

Pure. Only groups with pages count, and the variance is that of these groups, not of a sample of more.
"""

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

import msgspec
import numpy as np
from numpy.typing import NDArray

SHOWN = 20
PREFIX_BITS = {4: 16, 6: 32}  # of a network, by the version of IP


class SpreadGroup(msgspec.Struct, frozen=True):
    """One group, with its pages and its sites that have some."""

    name: str
    pages: int
    sites: int


class Spread(msgspec.Struct, frozen=True):
    """How many pages groups have; `largest`: by name, where names are known."""

    groups: int
    mean: float
    variance: float
    variation: float  # the coefficient: standard deviation over mean
    largest: tuple[SpreadGroup, ...] = ()


def spread_of(group_of_site: NDArray[np.integer], pages_of_site: NDArray[np.integer], names: Sequence[str]) -> Spread:
    """Return how pages are spread over groups of sites. `names`: by the number of the group, empty where unknown; the
    group of a site that is in none is -1."""
    kept = (pages_of_site > 0) & (group_of_site >= 0)
    groups, pages_of_site = group_of_site[kept], pages_of_site[kept]
    counts, sites = np.bincount(groups, pages_of_site).astype(np.int64), np.bincount(groups)
    pages = counts[counts > 0]
    if not len(pages):
        return Spread(0, 0.0, 0.0, 0.0)
    mean, variance = float(pages.mean()), float(pages.var())
    named = [
        SpreadGroup(name, int(counts[n]), int(sites[n])) for n, name in enumerate(names[: len(counts)]) if counts[n]
    ]
    return Spread(len(pages), mean, variance, variance**0.5 / mean, tuple(sorted(named, key=_rank)[:SHOWN]))


def network_of(host: str) -> str:
    """Return the network of a host that is an address: its /16, of IPv6 its /32; "" where it is a name."""
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return ""
    return str(ip_network((address.packed, PREFIX_BITS[address.version]), strict=False))


def top_level_of(host: str) -> str:
    """Return the last label of a host that is a name."""
    return host.rpartition(".")[2]


def _rank(group: SpreadGroup) -> tuple[int, str]:
    return -group.pages, group.name
