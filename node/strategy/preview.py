"""Previews a change of strategy from what this node knows: its view, its store, and what peers report of theirs.

Everything is bounded in time and number, because the person who asks is waiting and the node has other work; what was
not looked at is said.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from crawl import hashes_cover
from dht import (
    BY_ADDRESS,
    BadStrategy,
    Clock,
    NodeId,
    OverlayService,
    RemoteError,
    SignedStrategy,
    Slot,
    Strategy,
    check_bounds,
    decode_signed,
    parse_address,
    parse_document,
    placement_diff,
    placement_key,
    slot_of,
    slot_range,
)
from index import unknown_rules
from node.api.body import Json
from node.api.strategy import Preview
from node.crawling.store_change_feed import visit_of
from node.strategy.impact import HostEffect, KnownContents, SlotContents, changes_json, moved
from node.strategy.rule_notes import absence_in, rule_notes
from store import Kind, Record, RecordStore, Replicator, SlotReport, SlotReportReply

PEERS_ASKED = 32  # for what lies in slots that this node has not
ASK_WITHIN_S = 3.0
SLOTS_ASKED = 1024  # in one message
WEIGH_FOR_S = 4.0  # bytes of slots are summed row by row: for so long, the rest is estimated
KEY_BYTES = 20
MAX_URLS = 20_000  # looked at one by one, some 100 µs each
NAMED_HOSTS = 64
PAUSE_EVERY = 64


class StrategyPreview:
    """Answers what a draft would move, one draft at a time: each costs seconds of work."""

    def __init__(self, records: RecordStore, replicator: Replicator, overlay: OverlayService, clock: Clock) -> None:
        self._records, self._replicator, self._overlay, self._clock = records, replicator, overlay, clock
        self._turn = asyncio.Lock()

    async def preview(self, data: bytes) -> Preview:
        """Return what a draft or a signed document (`data`) would move and change; raises BadStrategy."""
        after = parse_document(decode_signed(data).document if b'"signatures"' in data else data)
        check_bounds(after)
        base = self._base(after)
        before = parse_document(base.document)
        left = self._overlay.report.members_left(after)
        async with self._turn:
            return Preview(
                base={"version": before.version, "digest": base.digest},
                to={"version": after.version, "effective_at": after.effective_at},
                members=len(self._overlay.view.members()),
                stay=[peer.hex() for peer in left.stay],
                lost=[{"node": peer.hex(), "reason": reason} for peer, reason in left.lost.items()],
                changes=changes_json(before, after),
                **await self._moved(before, after),
                hosts=await self._hosts(before, after),
                notes=list(self._notes(base, before, after)),
            )

    def _base(self, after: Strategy) -> SignedStrategy:
        """Return the version that a draft follows, or the newest where it follows none that is known."""
        strategies = self._overlay.strategies
        if after.network != strategies.network:
            raise BadStrategy("network", f"is {after.network}, this node's is {strategies.network}", "ask a node of it")
        found = strategies.signed(after.version - 1) or strategies.signed(strategies.newest.version)
        assert found is not None, "the newest version is always kept"
        return found

    def _notes(self, base: SignedStrategy, before: Strategy, after: Strategy) -> Iterator[str]:
        newest = self._overlay.strategies.newest
        if after.version <= newest.version:
            yield f"version {after.version} is known already; the next one is {newest.version + 1}"
        elif after.previous != base.digest or after.version != newest.version + 1:
            yield f"this does not follow version {newest.version}, the newest known here: it could not be published"
        if self._overlay.view.strategy.version != before.version:
            yield f"compared with version {before.version}, which is not in force yet"
        if after.slot_bits > before.slot_bits + 1:
            times = 2 ** (after.slot_bits - before.slot_bits)
            yield f"there will be {times} times as many slots at once; doubling step by step is calmer"
        if after.slot_bits < before.slot_bits:
            yield "there will be fewer slots than now: owners have to merge what they hold"
        if unknown := unknown_rules(after):
            yield f"{' and '.join(unknown)} is unknown to this dse-node: nodes that do not know it give partial answers"
        elif after.analyzer != before.analyzer:
            yield f"all nodes build an index for analyzer {after.analyzer} before this is in force: leave them the time"
        yield from self._way_in(after)
        yield from rule_notes(after, absence_in(self._overlay.view))
        if any(rule.action in BY_ADDRESS for rule in set(after.rules) - set(before.rules)):
            yield "new rules by address are decided at each fetch: which hosts they keep out is not counted here"
        if self._overlay.view.node_id.hex() in after.blocked:
            yield "this very node would be blocked"
        if gone := set(after.blocked) - set(before.blocked):
            yield f"what {len(gone)} newly blocked nodes wrote is dropped, and those pages are fetched anew by others"
        if named := set(after.importers) - set(before.importers):
            yield f"{len(named)} more may bring pages that nobody here fetched: what they say is on their word alone"

    def _way_in(self, after: Strategy) -> Iterator[str]:
        """Say where nobody would find the network any more by the strategy's addresses."""
        view = self._overlay.view
        contacts = [contact for peer in view.members() if (contact := view.contact(peer)) is not None]
        known = {endpoint.udp for contact in contacts for endpoint in contact.endpoints}
        if after.bootstrap and not any(parse_address(text).udp in known for text in after.bootstrap):
            yield "no member has one of the bootstrap addresses: who knows nobody finds this network by its file alone"

    # What moves

    async def _moved(self, before: Strategy, after: Strategy) -> Json:
        view, bits = self._overlay.view, max(before.slot_bits, after.slot_bits)
        old, new = view.domains.placement(view.members(), before), view.domains.placement(view.members(), after)
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(
            None, lambda: list(placement_diff(old, new, before.slot_bits, after.slot_bits))
        )
        changed = [part.slot for part in found if part.gained]
        in_force, store = view.strategy.slot_bits, self._records
        ready = self._replicator.ready_slots()
        own = [slot for slot in changed if _coarse(slot, bits, in_force) in ready]
        mine = frozenset(own)
        others = [slot for slot in changed if slot not in mine]
        whole = store.summary(bytes(KEY_BYTES), b"\xff" * KEY_BYTES)
        usual_bytes = store.room.record_bytes / max(1, whole.documents + whole.visits)
        return moved(found, KnownContents(await self._count(own, bits), await self._ask(others, bits), usual_bytes))

    async def _count(self, slots: Sequence[Slot], bits: int) -> dict[Slot, SlotContents]:
        """Count what lies here; bytes are summed while there is time."""
        store, until = self._records, self._clock().steady + WEIGH_FOR_S
        found: dict[Slot, SlotContents] = {}
        for number, slot in enumerate(slots):
            first, last = slot_range(slot, bits)
            counted, size = store.summary(first, last), 0
            if (counted.documents or counted.visits) and self._clock().steady < until:
                rows = await store.read_ranges(lambda catalog, first=first, last=last: catalog.rows(first, last))  # type: ignore[misc]
                size = sum(row.place.share_bytes for row in rows)
            found[slot] = SlotContents(counted.documents, counted.visits, size)
            if number % PAUSE_EVERY == 0:
                await asyncio.sleep(0)
        return found

    async def _ask(self, slots: Sequence[Slot], bits: int) -> dict[Slot, SlotContents]:
        """Ask a ready replica of each slot what lies there."""
        view = self._overlay.view
        wanted: dict[NodeId, list[Slot]] = {}
        for slot in slots:
            ready = [peer for peer in view.ready(_coarse(slot, bits, view.strategy.slot_bits)) if peer != view.node_id]
            asked = [peer for peer in ready if peer in wanted] or (ready if len(wanted) < PEERS_ASKED else [])
            if asked and len(wanted.setdefault(asked[0], [])) < SLOTS_ASKED:
                wanted[asked[0]].append(slot)
        found: dict[Slot, SlotContents] = {}
        async with asyncio.TaskGroup() as tasks:
            for peer, theirs in wanted.items():
                tasks.create_task(self._ask_one(peer, theirs, bits, found), name="preview-ask")
        return found

    async def _ask_one(self, peer: NodeId, slots: Sequence[Slot], bits: int, found: dict[Slot, SlotContents]) -> None:
        try:
            message = SlotReport(bits, tuple(slots))
            reply = await self._overlay.ask(peer, message, SlotReportReply, timeout_s=ASK_WITHIN_S)
        except RemoteError:
            return
        said = {state.slot: state for state in reply.states}
        found |= {
            slot: SlotContents(max(0, said[slot].documents), max(0, said[slot].visits))
            for slot in slots
            if slot in said
        }

    # What the rules change

    async def _hosts(self, before: Strategy, after: Strategy) -> Json:
        view, bits = self._overlay.view, self._overlay.view.strategy.slot_bits
        placement = view.domains.placement(view.members(), after)
        owners_after: dict[Slot, tuple[NodeId, ...]] = {}
        effect = HostEffect(before, after, owners_after, view.live() & frozenset(view.members()))
        ready = sorted(self._replicator.ready_slots())
        visits = sum(self._records.summary(*slot_range(slot, bits)).visits for slot in ready)
        for number, record in enumerate(self._sample(before, after, ready, bits)):
            slot_after = slot_of(record.key, after.slot_bits)
            if slot_after not in owners_after:
                owners_after[slot_after] = placement.live_owners(slot_after, view.live().__contains__)
            has_document = self._records.find_version(Kind.DOCUMENT, record.id) is not None
            slot, url = slot_of(record.key, bits), visit_of(record).url
            owners, refuses = view.live_owners(slot), partial(self._refuses, url)
            effect.add(url, slot_after, self._holder(slot), has_document=has_document, owners=owners, refuses=refuses)
            if number % PAUSE_EVERY == 0:
                await asyncio.sleep(0)
        about = {"slots_looked_at": len(ready), "slots": 2**bits, "urls_here": visits}
        return {**effect.json(), **about}

    def _sample(self, before: Strategy, after: Strategy, ready: Sequence[Slot], bits: int) -> Iterator[Record]:
        """Yield known URLs: first of hosts that rules name, then of every slot here alike, each once, up to a bound."""
        store, seen = self._records, set[bytes]()
        named = [site_range(host) for host in named_hosts(before, after)]
        each = max(1, MAX_URLS // max(1, len(ready)))
        scans: list[Iterable[Record]] = [store.scan(Kind.VISIT, *both) for both in named]
        scans += [_first(store.scan(Kind.VISIT, *slot_range(slot, bits)), each) for slot in ready]
        for scan in scans:
            for record in scan:
                if record.id in seen:
                    continue
                if len(seen) >= MAX_URLS:
                    return
                seen.add(record.id)
                yield record

    def _refuses(self, url: str, peer: NodeId) -> bool:
        return hashes_cover(self._overlay.view.peers.refuses(peer), url)

    def _holder(self, slot: Slot) -> NodeId | None:
        view = self._overlay.view
        if slot in view.leases():
            return view.node_id
        announced = view.announced(slot)
        return announced[0] if announced else None


def named_hosts(before: Strategy, after: Strategy) -> list[str]:
    """Return the hosts that new rules name: their URLs are looked at first."""
    hosts = (rule.host for rule in after.rules if rule not in before.rules)
    return [host for host in dict.fromkeys(hosts) if host and not host.startswith("*.")][:NAMED_HOSTS]


def site_range(host: str) -> tuple[bytes, bytes]:
    """Return the first and last placement key of a host at its scheme's default port, not spread."""
    site = placement_key(f"http://{host}/")[:10]
    return site + bytes(10), site + b"\xff" * 10


def _coarse(slot: Slot, bits: int, coarse_bits: int) -> Slot:
    """Return the slot of `coarse_bits` in which a slot of `bits` lies, or where it begins."""
    return Slot(slot >> bits - coarse_bits) if bits >= coarse_bits else Slot(slot << coarse_bits - bits)


def _first(records: Iterator[Record], count: int) -> Iterator[Record]:
    for _, record in zip(range(count), records, strict=False):
        yield record
