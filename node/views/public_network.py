"""Judges whether a network is ready for strangers, as `dse-node doctor --network` shows it.

Pure: the network file, the strategy in force, who answers, and what resolves in; findings out. docs/public-network.md
says why each of them matters.
"""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address

from dht import Network, Strategy, counted
from node.views.checkup import Finding

LEAST_ENTRANCES = 3  # machines that a newcomer asks first: one may be off, another at a bad moment
LEAST_PUZZLE_BITS = 16  # what `network new --open` asks for
LEAST_MEMBERS = 5  # of four members three must answer, so two that are off stop the crawl
LEAST_COPIES, LEAST_ACKS = 3, 2
LEFT_S = 60 * 86_400.0  # before the strategy's end
LEAST_DELAY_S = 1.0  # between two requests to a site


def public_findings(
    network: Network, strategy: Strategy, members: int, own_keys: int, resolved: Mapping[str, bool], now: float
) -> Iterator[Finding]:
    """Yield what a public network needs, one finding each. `members`: those that answer, this node among them;
    `own_keys`: publisher's keys in this node's directory; `resolved`: each seed's name, and whether it is found."""
    yield _entrances(network, strategy, resolved)
    yield _contact(network)
    yield from _publishers(strategy, own_keys)
    yield _admission(strategy)
    yield _copies(strategy)
    yield _judged(
        "members",
        members >= LEAST_MEMBERS,
        f"{counted(members, 'member')} answer{'s' * (members == 1)}",
        f"have {LEAST_MEMBERS} of them before you announce the network: with fewer, two that are off stop the crawl",
    )
    yield _judged(
        "politeness",
        strategy.min_delay_s >= LEAST_DELAY_S,
        f"{strategy.min_delay_s:g} s at least between two requests to a site",
        f"dse-node strategy draft --set min_delay_s={LEAST_DELAY_S:g}",
    )
    days = (strategy.expires_at - now) / 86_400
    yield _judged(
        "next version",
        strategy.expires_at - now >= LEFT_S,
        f"this version is meant for another {days:,.0f} days" if days > 0 else "this version has ended",
        "sign the next one early: publishers are people, and may be away",
    )


def _judged(name: str, is_good: bool, found: str, remedy: str) -> Finding:
    return Finding(name, "good", found) if is_good else Finding(name, "bad", found, remedy)


def _entrances(network: Network, strategy: Strategy, resolved: Mapping[str, bool]) -> Finding:
    hosts = {*(contact.host for contact in network.bootstrap), *(_host(address) for address in strategy.bootstrap)}
    private = sorted(host for host in hosts if not ip_address(host).is_global)
    lost = sorted(name for name, is_found in resolved.items() if not is_found)
    if strategy.declared_prefixes or private:
        named = ", ".join([*strategy.declared_prefixes, *private][:4])
        return Finding("entrances", "bad", f"private addresses are named: {named}", "strangers see them: omit them")
    if lost:
        return Finding("entrances", "bad", f"DNS does not find {', '.join(lost)}", "add A and AAAA records")
    entrances, wanted = len(hosts) + len(resolved), f"run {LEAST_ENTRANCES} nodes at different providers"
    remedy = f"{wanted}, and name them with --bootstrap or --seed of `network new`"
    return _judged("entrances", entrances >= LEAST_ENTRANCES, counted(entrances, "entrance"), remedy)


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def _contact(network: Network) -> Finding:
    remedy = "name a page with your policy and an address for complaints: dse-node network new … --info-url"
    found = network.info_url or "no page says whom site owners can ask"
    return _judged("contact", network.info_url.startswith("https://"), found, remedy)


def _publishers(strategy: Strategy, own_keys: int) -> Iterator[Finding]:
    keys, threshold = len(strategy.publishers), strategy.threshold
    remedy = "name three people's keys and threshold=2: dse-node strategy draft --publisher KEY … --set threshold=2"
    yield _judged("publishers", 2 <= threshold < keys, f"{threshold} of {counted(keys, 'key')} must sign", remedy)
    yield _judged(
        "keys off line",
        not own_keys,
        f"{counted(own_keys, 'publisher key')} in the directory of this node",
        "move keys/*.publisher.key to a machine that runs no node, and sign there",
    )


def _admission(strategy: Strategy) -> Finding:
    if strategy.admission == "invited":
        return Finding("admission", "good", "by invitation")
    found = f"open: {strategy.puzzle_bits} puzzle bits, {counted(strategy.min_age_days, 'day')} before a member votes"
    is_good = strategy.puzzle_bits >= LEAST_PUZZLE_BITS and strategy.min_age_days >= 1
    remedy = "found it by `dse-node network new --open`: more puzzle bits later would put members out"
    return _judged("admission", is_good, found, remedy)


def _copies(strategy: Strategy) -> Finding:
    found = f"{strategy.replicas} of each page, {strategy.min_acks} before a write counts"
    is_good = strategy.replicas >= LEAST_COPIES and strategy.min_acks >= LEAST_ACKS
    return _judged("copies", is_good, found, f"--set replicas={LEAST_COPIES} --set min_acks={LEAST_ACKS}")
