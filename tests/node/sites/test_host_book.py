"""What a node knows of spread sites: read when in doubt, never taken back, bounded in memory and in staleness."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dht import FRESH_S, SURE_S, DocumentId, Key, Now
from node.sites.host_book import FORMER_S, MAX_READ, HostBook
from store import HostAlias, HostRecord, Kind, Record, encode_host, host_name, host_url
from tests.store.support import Draft, records

SITE, SMALL = "big.example", "small.example"


@dataclass
class Network:
    """Host records, and how often each was asked for."""

    time: float = 1e6
    said: dict[str, HostRecord] = field(default_factory=dict)
    asked: list[DocumentId] = field(default_factory=list)
    is_silent: bool = False
    heard: list[tuple[str, bool]] = field(default_factory=list)

    def clock(self) -> Now:
        return Now(self.time, self.time)

    async def read_sure(
        self, wanted: Sequence[tuple[Kind, DocumentId, Key]]
    ) -> tuple[dict[tuple[Kind, DocumentId], Record], frozenset[tuple[Kind, DocumentId]]]:
        names = [(kind, id) for kind, id, _ in wanted]
        self.asked += [id for _, id in names]
        if self.is_silent:
            return {}, frozenset(names)
        known = {host_name(site)[0]: record_of(host) for site, host in self.said.items()}
        return {name: known[name[1]] for name in names if name[1] in known}, frozenset()


def record_of(host: HostRecord) -> Record:
    site = host.url.split("/")[2]
    return records(Draft(Kind.HOST, *host_name(site), 1, 1, 30_000, encode_host(host)))[0]


def book(network: Network) -> HostBook:
    made = HostBook(network.clock, lambda site, is_other: network.heard.append((site, is_other)))
    made.reads(network)  # type: ignore[arg-type]
    return made


async def test_a_record_is_read_once_and_again_after_its_time() -> None:
    network = Network(said={SITE: HostRecord(host_url(SITE), 3, 1, 1e6)})
    hosts = book(network)
    assert not hosts.spreads and hosts.depths(SITE) == (0,)
    assert await hosts.learn([SITE, SMALL]) == {SITE, SMALL}
    assert hosts.spreads and (hosts.depths(SITE), hosts.depths(SMALL)) == ((3, 1), (0,))
    assert network.heard == [(SITE, True), (SMALL, False)]
    network.time += FRESH_S - 1
    await hosts.learn([SITE, SMALL])
    assert len(network.asked) == 2
    network.time += 2
    await hosts.learn([SITE])
    assert len(network.asked) == 3
    network.time += FORMER_S
    assert hosts.depths(SITE) == (3,), "nothing lies at the former place any more"


async def test_depths_are_never_taken_back() -> None:
    network = Network()
    hosts = book(network)
    for depth, wanted in ((2, (2, 0)), (1, (2, 0)), (5, (5, 2)), (0, (5, 2))):
        hosts.hear(record_of(HostRecord(host_url(SITE), depth, 0, network.time)))
        assert hosts.depths(SITE) == wanted
    assert network.heard == [(SITE, True)] * 2


async def test_silence_says_nothing() -> None:
    network = Network(is_silent=True)
    hosts = book(network)
    assert await hosts.learn([SITE]) == frozenset()
    assert not network.heard
    network.is_silent = False
    assert await hosts.learn([SITE]) == {SITE}


async def test_what_was_read_a_moment_ago_is_not_in_doubt_and_memory_is_bounded() -> None:
    network = Network()
    hosts = book(network)
    await hosts.learn([SITE])
    hosts.wonder(SITE)
    assert not hosts._wondered
    network.time += SURE_S + 1
    hosts.wonder(SITE)
    assert list(hosts._wondered) == [SITE]
    await hosts.learn(f"s{n}.example" for n in range(MAX_READ + 50))
    assert len(hosts._read) == MAX_READ


async def test_aliases_are_heard_once_and_older_records_change_nothing() -> None:
    heard: list[tuple[str, int]] = []
    network = Network()
    hosts = HostBook(network.clock, lambda site, is_other: None, lambda site, said: heard.append((site, len(said))))
    hosts.reads(network)  # type: ignore[arg-type]
    mirror = HostRecord(host_url(SITE), aliases=(HostAlias(False, f"https://{SITE}/", 1e6, 2),))
    plain = HostRecord(host_url(SITE))

    def at(host: HostRecord, at_ms: int) -> Record:
        return records(Draft(Kind.HOST, *host_name(SITE), 1, at_ms, 30_000, encode_host(host)))[0]

    hosts.hear(at(plain, 1))
    assert not heard, "most sites are no aliases"
    for record in (at(mirror, 2), at(mirror, 2), at(plain, 1)):
        hosts.hear(record)
    assert heard == [(SITE, 1)]
    hosts.hear(at(plain, 3))
    network.said[SITE] = mirror  # a replica that lags behind
    await hosts.learn([SITE])
    assert heard == [(SITE, 1), (SITE, 0)]
    assert not hosts.spreads
