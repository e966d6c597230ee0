"""Applies the limits of authors on one node, and remembers who met one (`author_budgets.py` has the rules)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf

from dht import SITE_BYTES, CrawlRules, NodeId, Overlay, SignedGrant, Slot, Strategy, remember
from store.catalog.author_table import OF_STRANGERS, id_of
from store.catalog.record_store import RecordStore
from store.record.record import Kind, Record
from store.writing.author_budgets import (
    FREE_MEMBERS,
    LEAST_FOUND,
    MOST_FOUND,
    OF_FOUND,
    OF_ROOM,
    OF_SITE,
    REASONS,
    Excess,
    LeaseShares,
    SiteRates,
    found_limit,
    is_page,
    room_limit,
    site_found_limit,
)

LOOK_EVERY_S = 60.0  # at who holds which lease
NAMED_S = 86_400.0  # after its last excess an author is named for so long
MOST_NAMED = 256  # authors and peers that are remembered
MOST_HEADROOMS = 16_384  # sites of which it is remembered how many more found URLs they may have
MUCH = 128 << 20  # bytes of room: more than can be on its way at once
AHEAD = 1024  # found URLs that go beyond those that must, so that they go seldom


class AuthorBudgets:
    """Judges records by what their authors have here already."""

    def __init__(self, overlay: Overlay, store: RecordStore) -> None:
        self._overlay, self._store, self._sums, self._clock = overlay, store, store.authors, store.clock
        self._rates = SiteRates(self._delay_s, self._is_here)
        self._shares = LeaseShares()
        self._rules: tuple[Strategy, CrawlRules] | None = None
        self._members: Sequence[NodeId] = ()
        self._granted: dict[Slot, SignedGrant] = {}  # the newest grant seen of each slot
        self._coming = Counter[bytes]()  # bytes that were judged and are not written yet, by author
        self._headroom: dict[bytes, int] = {}
        self.excesses: dict[NodeId, Excess] = {}  # by author, as this node judged them
        self.refused: dict[NodeId, tuple[float, str]] = {}  # by peer: when it last took no more, and why

    async def step(self) -> None:
        """Look at who holds the leases of this node's slots; call it every LOOK_EVERY_S."""
        view, now = self._overlay.view, self._clock()
        self._follow_members()
        self._coming.clear()  # of what was never written after all
        owned, held = view.owned(), view.leases()
        self._granted = {s: g for s, g in self._granted.items() if s in owned and g.grant.until_s >= now.wall}
        self._shares.note(filter(None, (view.node_id if s in held else self._holder(s) for s in owned)), now)
        self.excesses = {a: each for a, each in self.excesses.items() if each.at > now.wall - NAMED_S}

    def note_grants(self, grants: Iterable[SignedGrant]) -> None:
        """Take note of sound grants that came with records."""
        bits = self._overlay.view.strategy.slot_bits
        for signed in grants:
            slot = signed.grant.first_slot(bits)
            if slot not in self._granted or self._granted[slot].grant.until_s <= signed.grant.until_s:
                self._granted[slot] = signed

    def note_refusals(self, peer: NodeId, reasons: Iterable[str]) -> None:
        """Take note that a peer takes no more of this node."""
        for reason in reasons:
            if reason in REASONS:
                remember(self.refused, peer, (self._clock().wall, reason), MOST_NAMED)
                return

    async def refusals(self, peer: NodeId, records: Sequence[Record]) -> dict[int, str]:
        """Say which of some records, by number, are too much of their authors, and why. The others are written next,
        and `settle` is told."""
        self._follow_members()
        reasons, found = dict[int, str](), dict[bytes, dict[int, Record]]()
        accounts, rooms = dict[bytes, bytes](), dict[bytes, float]()
        for n, record in enumerate(records):
            kind, author = record.kind, record.proof.author
            is_find = kind is Kind.VISIT and not record.version.epoch
            if (account := accounts.get(author)) is None:
                account = accounts[author] = self._account(author)
            if account == OF_STRANGERS and not (is_find or kind > Kind.FORMER):
                account = author  # a grant, or the right to import, stands behind it
            if not account:
                continue
            if (left := rooms.get(account)) is None:
                left = rooms[account] = self._room_left(account)
            if (left < MUCH or kind is not Kind.VISIT) and (reason := self._reason(peer, account, record, rooms)):
                reasons[n] = reason
            elif is_find:
                found.setdefault(account, {})[n] = record
        for account, finds in found.items():
            for n in await self._beyond(peer, account, finds):
                reasons[n] = OF_FOUND
        return reasons

    def is_beyond(self, record: Record) -> bool:
        """Tell whether a record's author went beyond its limits here."""
        return bool(self.excesses) and id_of(record.proof.author) in self.excesses

    def settle(self, records: Sequence[Record], *, is_written: bool) -> None:
        """Take note that records which were within the limits are written, or that the disk did not take them."""
        if is_written and not self._coming:  # nearly always
            return
        for record in records:
            account = record.proof.author
            if account in self._coming:
                self._coming[account] = max(0, self._coming[account] - _size(record))
            if not is_written and self._is_counted(record) and self._account(account):
                self._rates.give_back(record)
        self._coming = +self._coming

    def _account(self, author: bytes) -> bytes:
        """Return the account of records that no grant proves: their author's public key, OF_STRANGERS where the author
        is no member, b"" for this node itself."""
        node_id = id_of(author)
        return b"" if node_id == self._overlay.view.node_id else author if node_id in self._members else OF_STRANGERS

    def _reason(self, peer: NodeId, account: bytes, record: Record, rooms: dict[bytes, float]) -> str:
        """Why a record is too much of its site, or of its author's room; "" where it is not."""
        reason, size = "", _size(record) if rooms[account] < MUCH else 0
        if size > rooms[account]:
            reason = OF_ROOM
        elif self._is_counted(record) and not self._rates.take(record, self._clock(), is_authors=_is_by(record, peer)):
            reason = OF_SITE
        if reason:
            self._note(account, reason, 1)
        elif size:
            rooms[account] -= size
            self._coming[record.proof.author] += size
        return reason

    def _is_counted(self, record: Record) -> bool:
        """Whether a record is a page that was written under the strategy in force, whose delays count."""
        since = self._overlay.view.strategy.effective_at
        return record.kind is not Kind.VISIT and is_page(record) and record.version.at_ms / 1000 >= since

    def _room_left(self, account: bytes) -> float:
        """How many bytes more of an author fit into its room. Its part of the index counts like its records."""
        view, room = self._overlay.view, self._store.room
        used = room.used_bytes
        if len(self._members) <= FREE_MEMBERS or account.hex() in view.strategy.importers:
            return inf  # publishers trust importers with more than they fetch
        share = 0.0 if account == OF_STRANGERS else self._shares.share(id_of(account), self._clock())
        held = self._sums.held(account).bytes * max(1.0, used / max(1, room.record_bytes))
        return room_limit(room.quota_bytes, used, share) - held - self._coming.total()

    async def _beyond(self, peer: NodeId, account: bytes, found: Mapping[int, Record]) -> set[int]:
        """Make room for found URLs, and return the numbers of those for which there is none. The author's older ones go
        where it brings newer ones; what others bring makes nothing go, or it would come again and again."""
        held, is_own = self._sums.held(account), account == OF_STRANGERS or id_of(account) == peer
        over = held.found + len(found) - found_limit(len(self._members))
        if over > 0 and not is_own:
            return {*found}
        if over > 0:
            await self._drop(account, over)
        total = self._sums.held().found
        if total + len(found) > MOST_FOUND:
            await self._drop(self._sums.most_found(), len(found))
        return await self._beyond_site(account, found, is_own=is_own) if total + len(found) > LEAST_FOUND else set()

    async def _beyond_site(self, account: bytes, found: Mapping[int, Record], *, is_own: bool) -> set[int]:
        """Make room within the limits of sites, and return the numbers of those for which there is none."""
        refused, sites = set[int](), dict[bytes, list[int]]()
        for n, record in found.items():
            sites.setdefault(record.key[:SITE_BYTES], []).append(n)
        for site, numbers in sites.items():
            free = self._headroom.get(site, 0)
            if free < len(numbers):
                free = self._find_headroom(site)
            if free < len(numbers) and is_own:
                await self._drop(account, len(numbers) - free, site)
                free = self._find_headroom(site)
            beyond = numbers[max(0, free) :]
            refused.update(beyond)
            remember(self._headroom, site, free - len(numbers) + len(beyond), MOST_HEADROOMS)
        return refused

    def _find_headroom(self, site: bytes) -> int:
        found, pages = self._sums.of_site(site)
        return site_found_limit(pages) - found

    async def _drop(self, account: bytes, count: int, site: bytes = b"") -> int:
        gone = await self._sums.drop_found(account, count + AHEAD, site)
        self._note(account, OF_FOUND, count)
        return gone

    def _note(self, account: bytes, reason: str, count: int) -> None:
        if account == OF_STRANGERS:
            return  # nobody is to be named
        author = id_of(account)
        known, name = self.excesses.get(author, Excess()), REASONS[reason]
        more = {name: getattr(known, name) + count, "at": self._clock().wall}
        held_bytes = self._sums.held(account).bytes if known.at + LOOK_EVERY_S < more["at"] else known.held_bytes
        remember(self.excesses, author, known._replace(**more, held_bytes=held_bytes), MOST_NAMED)

    def _holder(self, slot: Slot) -> NodeId | None:
        """Return the holder of a slot's lease: by this node's own vote, else a lone announcement, else the newest
        grant that came in."""
        view = self._overlay.view
        if (promised := view.votes.promised(slot)) is not None:
            return promised
        claims = tuple(view.announced(slot))
        if len(claims) == 1:
            return claims[0]
        return NodeId(self._granted[slot].grant.holder) if slot in self._granted else None

    def _follow_members(self) -> None:
        if (members := self._overlay.view.members()) != self._members:
            self._members = members
            self._sums.follow_members(frozenset({*members, self._overlay.view.node_id}))

    def _delay_s(self, url: str) -> float:
        strategy = self._overlay.view.strategy
        if self._rules is None or self._rules[0] is not strategy:
            self._rules = strategy, CrawlRules(strategy)
        return self._rules[1].decide(url).min_delay_s

    def _is_here(self, record: Record) -> bool:
        held = self._store.find_version(record.kind, record.id)
        return held is not None and held >= record.version.short


def _is_by(record: Record, peer: NodeId) -> bool:
    return id_of(record.proof.author) == peer


def _size(record: Record) -> int:
    return len(record.body) + len(record.content or b"")
