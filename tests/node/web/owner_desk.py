"""Stands for a node's owner's desk in the web listener's tests: the real values, filled as full as they may be."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import msgspec

from crawl import FetchLoad, FetchMeter, SiteGroup, SiteOrder, SitePage, SiteWait, WaitingSite, chosen_sites
from dht import Endpoint, NodeId
from node.api.peers import MachineLoad, Peer
from node.api.sites import SiteEntry, SiteTable
from node.api.slots import NamedMember, SlotEntry, SlotTable
from node.config.settings import Config
from node.jobs.job_wait import JobWait
from node.owner.desk import ReportMaker, SitesSeen
from node.owner.figure_history import NAMES, FigureHistory, Figures
from node.owner.job_ledger import JobRow
from node.owner.log_ring import LogLine
from node.owner.member_desk import AskedMember, MemberFigures, MembersSeen
from node.owner.member_page import Order, member_page
from node.owner.network_map import HeardPeer, HeardSlot, NetworkMap, network_map
from node.owner.setting_change import changed
from node.owner.setting_list import SettingRow, setting_rows
from node.owner.slot_page import SlotWish, slot_page
from node.sites.asked_removals import AskedRemovals
from node.sites.host_wishes import HostWishes, Wish, host_named
from tests.node.bodies import filled

EVIL = "<script>alert(1)</script>\"'"
DETAIL = f"5 requests in a row failed, last: {EVIL}"


def full_map(slots: int, peers: int) -> NetworkMap:
    """A network in which no two neighbours are alike, as its drawing is longest."""
    heard = [HeardSlot(n % 4, 3, n % 3 > 0, n % 7 == 0, n % 14 == 0, n % 28 == 0) for n in range(slots)]
    members = [
        HeardPeer(n / peers, n % 5 > 0, (f"198.{n // 250}.{n % 250}.1", f"2001:db8:{n:x}::1")[: 1 + n % 2])
        for n in range(peers)
    ]
    return network_map(heard, members)


class FakeMembers:
    """A thousand members with the longest words, each of which answers."""

    async def members(self, search: str, order: Order, start: int) -> MembersSeen:
        page = member_page(_members(), search, order, start)
        told = MemberFigures("9.9.9+" + "x" * 26, 9_999_999, 800, 16 << 30, 10**9, 99_999_999)
        return MembersSeen(page, {row.node_id: AskedMember(told, 1999.0) for row in page.rows if row.live})


class FakeSlots:
    """The slots of such a network: 4,096 with three owners each, whose names are as long as may be."""

    async def slots(self, member: str, few: bool, number: int | None, start: int, most: int) -> SlotTable:
        owners = [[_id(slot + each) for each in range(3)] for slot in range(4096)]
        members = {_id(n) for n in range(1000) if member in f"{_name(n)}"}
        wish = SlotWish(members if member else None, few, number)
        ready = [each[: 2 + slot % 2] for slot, each in enumerate(owners)]
        page = slot_page(owners, ready, lambda slot: owners[slot][0], wish, start, most)
        rows = [
            SlotEntry(
                slot,
                [NamedMember(peer.hex(), _name(int.from_bytes(peer)), True) for peer in owners[slot]],
                NamedMember(owners[slot][0].hex(), "", False),
                *(len(ready[slot]), True, True, slot % 2 == 0, 1_000_000, 123_456_789),
            )
            for slot in page.slots
        ]
        return SlotTable(rows, page.matching, len(owners), page.after)


class FakeSites:
    """A thousand own sites with long names; of the network's, one member of three told its own."""

    def own(self, beginning: str, order: SiteOrder, start: int, most: int) -> SiteTable:
        marks = {f"s{n:04}.{'x' * 200}.test": 0.0 if order == "name" else n for n in range(1000)}
        chosen = chosen_sites(marks, beginning, start, most)
        crawler = [NamedMember(_id(1).hex(), _name(1), True)]
        rows = [SiteEntry(name, int(name[1:5]), 9999, 1, None, 12.5, crawler) for name in chosen.names]
        return SiteTable(rows, chosen.matching, chosen.all, chosen.after, 1, 1, False, False)

    async def network(self, beginning: str, order: SiteOrder, start: int, most: int) -> SiteTable:
        return msgspec.structs.replace(self.own(beginning, order, start, most), members=3, partial=True, cut=True)


def _id(n: int) -> NodeId:
    return NodeId((n % 1000).to_bytes(20))


def _name(n: int) -> str:
    return f"{EVIL[:26]}{n:04}"


@cache  # making them takes longer than showing them
def _members() -> list[Peer]:
    return [_member(n) for n in range(1000)]


def _member(n: int) -> Peer:
    said = {
        "node_id": f"{n:040x}",
        "name": _name(n),
        "state": "trouble",
        "needs": ["disk", "clock"],
        "room_bytes": n << 30,
    }
    peer = filled(Peer, {**said, "live": n % 9 > 0, "due": n, "last_heard_s": float(n), "clock_off_s": 3600.0})
    peer.load = MachineLoad(cpu=n % 100, memory=50, disk=n % 101, network=1)
    peer.endpoints = [Endpoint("198.51.100.200", 65_535, 65_535)]
    return peer


@dataclass
class FakeOwner:
    """An owner's desk with sites by name; what is wished is remembered."""

    sites_count: int = 100_000
    name_chars: int = 20  # of a site's
    slots: int = 4096
    peers_count: int = 1000
    history: FigureHistory = field(default_factory=FigureHistory)
    meter: FetchMeter = field(default_factory=FetchMeter)
    wishes: HostWishes = field(default_factory=HostWishes)
    file: str = "[node]\nweb_port = 8090\n"
    report: ReportMaker | None = None  # the extra is not installed
    asked_removals: AskedRemovals = field(default_factory=lambda: AskedRemovals(None))
    told: list[JobRow] = field(default_factory=lambda: [_job(n) for n in range(16)])

    @property
    def load(self) -> FetchLoad:
        return self.meter.step(10.0)

    def unread(self) -> int:
        return 7

    def network(self) -> NetworkMap:
        return full_map(self.slots, self.peers_count)

    def sites(self, beginning: str, group: SiteGroup, after: str, most: int) -> SitesSeen:
        names = [f"s{n:06}.".ljust(self.name_chars - 5, "x") + ".test" for n in range(min(self.sites_count, 200))]
        rest = [name for name in names if name.startswith(beginning) and name > after]
        kinds = list(SiteWait)
        rows = [
            WaitingSite(site, site, n, n, kinds[n % len(kinds)], n * 100.0, DETAIL[:160], f"http://{site}/")
            for n, site in enumerate(rest[:most])
        ]
        page = SitePage(tuple(rows), self.sites_count, self.sites_count, rest[most - 1] if len(rest) > most else "")
        wished = self.wishes.beginning(beginning)
        return SitesSeen(page, tuple(wished[:most]), len(wished))

    async def wish(self, host: str, wish: Wish) -> None:
        self.wishes = self.wishes.with_wish(host_named(host), wish)

    async def jobs(self) -> Sequence[JobRow]:
        return self.told

    async def cancel(self, number: int) -> JobRow | None:
        """Only a job that is listed can be cancelled."""
        place = next((n for n, job in enumerate(self.told) if job.number == number), None)
        if place is None:
            return None
        self.told[place] = replace(self.told[place], cancelled_at=1.0, every="")
        return self.told[place]

    def log(self) -> Sequence[LogLine]:
        return [LogLine(1_800_000_000.0 + n, "WARNING", "crawl.fetch", (EVIL * 20)[:400]) for n in reversed(range(200))]

    def settings(self) -> Sequence[SettingRow]:
        return setting_rows(Config(), self.file)

    async def set(self, key: str, typed: str) -> bool:
        self.file, _ = changed(self.file, key, typed)
        return key == "crawl.hours"


@cache
def full_history() -> FigureHistory:
    """A day of figures that never stand still; it is read only, so all tests of a process share one."""
    history, until = FigureHistory(), time.time()
    for n in range(8640):
        v = float(n % 97)
        figures = Figures(
            v, v * 3, v * 2, v * 9, v * 10, v * 1e9, v / 30, *[v * each * 77 for each in range(len(NAMES) - 7)]
        )
        history.add(until - (8639 - n) * 10, figures)
    return history


def _job(n: int) -> JobRow:
    """Every other job waits; of every fourth one what was found is known to nobody, and is asked for again."""
    link = {"url": "http://b.test/", "depth": 0, "scope": ""}
    wait = JobWait([{"url": f"http://a.test/{each}"} for each in range(501)], 500)
    if n % 4 == 0:
        wait = JobWait([{"url": "http://a.test/"}], 2)
        wait.take(wait.ask(1), [{"state": "fetched", "found": [link, {**link, "url": "http://c.test/"}]}])
        wait.take(wait.ask(1), [{"state": "unknown"}])
        wait.begin_round()
    else:
        asked = wait.ask(500)
        wait.take(asked, [{"state": "waiting" if n % 2 else "gone"}] * len(asked))
    wait.counts.clear()
    wait.counts.update(fetched=900, failed=80, refused=20)
    wait.reasons.update({f"{EVIL}{each}".ljust(120): 7 for each in range(3)})
    return JobRow(
        n + 1,
        1_800_000_000.0,
        f"http://job{n}.test/{EVIL}".ljust(2000, "x"),
        1000,
        5,
        EVIL,
        wait,
        every="weekly" if n == 2 else "",
    )
