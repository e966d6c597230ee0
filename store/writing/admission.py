"""Decides from which peers this node takes records, before it looks at what is in them.

Pure but for the view that it is given: `now` is an argument. The candidates of a slot, the members from whom its owners
come, write its records. They also bring records of others when they repair, hand over or pay what they owe. So a
record's author says nothing about who may bring it. Other members may bring, at a bounded rate, found URLs and, if they
may import, their own imports. A former owner that is no candidate any more may bring the records that it still has to
hand over. A node that is no member brings nothing. Only owners and stand-ins of a slot take what erases former
versions: whoever takes a slot over erases nothing at those who had it.

The holder of the lease of a site's home slot alone says where the site lies, as far as this node can see that. A host
record moves a site's pages, and depths are never taken back. So a new depth counts only while its author holds the
lease of the home slot, and only up to the depth that so many nodes may need. A voter knows whom it promised the lease;
others go by the one live owner that announces it. The next holder of the lease signs the record anew
(`node/sites/site_sharder.py`). Aliases are hints, which each node tests itself: records that change nothing but these
may come from owners whoever signed them, from others only as the holder's.

An import, a DOCUMENT of epoch 0, is a page that nobody fetched here. No lease stands behind an import, so it never
beats a version that was fetched under one; what stands behind it is the key of whoever imported it. In a network by
invitation that may be any member, since somebody answers for each; elsewhere whom the strategy names. Where nobody else
is, nobody is wronged.
"""

from collections.abc import Callable, Collection, Sequence

from dht import (
    NodeId,
    Now,
    Overlay,
    RateLimiter,
    SiteShards,
    Slot,
    Strategy,
    node_id_of,
    placement_key,
    site_of,
    slot_of,
)
from store.config import StoreConfig
from store.record.former_page import is_erasure
from store.record.host_record import decode_host
from store.record.package import MAX_RECORDS, url_of
from store.record.record import Draft, Kind, Record
from store.record.record_check import AHEAD_S

DAY_S = 86_400.0
MAX_IMPORTERS = 1024  # whose imports are counted; one that is forgotten has a whole day's again
NOT_NAMED = "may not import pages: the strategy does not name its key (`strategy draft --importer KEY`)"
NO_MEMBER = "may not import pages: its author is not a known member"
TOO_MUCH = "its author imported as much as one member may in a day (store.import_bytes_day); send it again later"


def is_import(record: Record | Draft) -> bool:
    """Tell whether a record is a page that was brought from elsewhere, or a former version that was."""
    epoch = record.epoch if isinstance(record, Draft) else record.version.epoch
    return record.kind in (Kind.DOCUMENT, Kind.FORMER) and not epoch


def import_flaw(key: bytes, strategy: Strategy, members: Collection[NodeId]) -> str:
    """Say why the owner of a public key may not import pages, "" where it may."""
    importer = node_id_of(key)
    if importer.hex() in strategy.blocked:
        return f"may not import pages: strategy {strategy.version} blocks it"
    if key.hex() in strategy.importers or {*members} == {importer}:
        return ""
    if strategy.admission != "invited":
        return NOT_NAMED
    return "" if importer in members else NO_MEMBER


class ImportQuota:
    """Counts what each member imports: so much at once, which fills again within a day."""

    def __init__(self, config: StoreConfig) -> None:
        self._bytes, self._records = (
            RateLimiter(most / DAY_S, most, keys=MAX_IMPORTERS)
            for most in (float(config.import_bytes_day), float(config.import_records_day))
        )

    def take(self, record: Record, now: Now) -> bool:
        """Count a record of its author's; False, and nothing counted, where that is too much for today."""
        author, steady = record.proof.author, now.steady
        if not self._bytes.take(author, steady, len(record.body) + len(record.content or b"")):
            return False
        return self._records.take(author, steady)


PLACES_A_NODE = 4  # of one site, at most: each has a quarter of what a node keeps (`dht/ownership/shard_policy.py`)


class HostWriters:
    """Judges host records by their authors' leases."""

    def __init__(self, overlay: Overlay, places: SiteShards) -> None:
        self._overlay, self._places = overlay, places
        self.ignored = 0  # records that were not taken, so far

    def objection(self, record: Record, *, by_owner: bool) -> str:
        """Say why a record is not taken, "" where it may be. `by_owner`: an owner of its slot brings it, who repairs or
        hands over what others wrote. Other records are judged elsewhere."""
        if record.kind != Kind.HOST:
            return ""
        try:
            host = decode_host(record.body)
            known = self._places.hosts.depths(site_of(host.url))[0]
        except ValueError:
            return ""  # it is none, which `record_check.py` says
        reason = ""
        if host.depth > known and 1 << host.depth > PLACES_A_NODE * len(self._overlay.view.members()):
            reason = f"a site in {1 << host.depth} places is more than the network needs"
        elif not ((by_owner and host.depth == known) or self._is_holders(record)):
            reason = "its author does not hold the lease of the site's home slot"
        self.ignored += bool(reason)
        return reason

    def _is_holders(self, record: Record) -> bool:
        view, author = self._overlay.view, node_id_of(record.proof.author)
        slot = slot_of(record.key, view.strategy.slot_bits)
        if (holder := view.votes.promised(slot)) is not None:
            return author in (holder, view.node_id)
        claims = tuple(view.announced(slot))  # anybody may claim to hold it, so one claim beside another counts nothing
        return author == view.node_id or (claims == (author,) and author in view.live_owners(slot))


BURST_S = 4.0  # of the rate: a page's links come together


class Admission:
    """Decides whose records one node takes."""

    def __init__(
        self,
        overlay: Overlay,
        records_s: float,
        places: SiteShards,
        serves: Callable[[bytes], bool],
        host_writers: HostWriters,
        is_frozen: Callable[[bytes], bool] = lambda key: False,
    ) -> None:
        """`serves(key)`: whether this node answers for the slot of a key, which may be another's by now.
        `is_frozen(key)`: whether it has only what lay there before."""
        self._overlay, self._places, self._serves, self._is_frozen = overlay, places, serves, is_frozen
        self._host_writers = host_writers
        self._foreign = RateLimiter(records_s, max(BURST_S * records_s, MAX_RECORDS))

    def objections(self, now: Now, peer: NodeId, records: Sequence[Record], *, is_hint: bool = False) -> list[str]:
        """Say why each record is not taken from this peer, "" where it is. A candidate takes what is left with it for
        owners (`is_hint`), whomever it believes to be live, and from each peer at a bounded rate."""
        view = self._overlay.view
        bits, owned = view.strategy.slot_bits, view.owned()
        reasons, foreign = [""] * len(records), list[int]()
        for n, record in enumerate(records):
            slot = slot_of(record.key, bits)
            is_ours = slot in owned or slot in view.kept() or self._serves(record.key)
            may_keep = is_ours or (
                is_hint and view.node_id in view.candidates(slot) and not self._is_frozen(record.key)
            )
            if not may_keep or (slot not in owned and record.kind == Kind.FORMER and is_erasure(record.id)):
                reasons[n] = f"slot {slot} is not mine"
            elif record.kind == Kind.HOST and (objection := self._of_site(peer, record, slot)):
                reasons[n] = objection
            elif peer not in view.candidates(slot):
                reasons[n] = self._of_another(now, peer, record, slot)
                foreign.extend(() if reasons[n] else (n,))
            elif not is_ours:
                foreign.append(n)
        if foreign and not self._foreign.take(peer, now.steady, len(foreign)):
            for n in foreign:
                reasons[n] = "too many records for slots that are not yours; send them again later"
        return reasons

    def _of_site(self, peer: NodeId, record: Record, slot: Slot) -> str:
        view = self._overlay.view
        return self._host_writers.objection(record, by_owner=peer in view.owners(slot) or view.is_ready(peer, slot))

    def _of_another(self, now: Now, peer: NodeId, record: Record, slot: Slot) -> str:
        """Found URLs, what a former owner has, and the peer's own imports; no word about the future, which
        would win."""
        epoch = record.version.epoch
        if is_import(record) and node_id_of(record.proof.author) == peer:
            view = self._overlay.view
            flaw = import_flaw(record.proof.author, view.strategy, view.members())
            return f"its author {flaw}" if flaw else ""
        if record.kind == Kind.VISIT and epoch == 0:
            return ""
        is_past = epoch <= now.wall + AHEAD_S
        if is_past and (self._overlay.view.is_ready(peer, slot) or self._moves(peer, record)):
            return ""
        return f"slot {slot} is written by its candidates, and you are none"

    def _moves(self, peer: NodeId, record: Record) -> bool:
        """Whether a record of a spread site comes from who has it at the place where it lay before."""
        if record.kind == Kind.HOST:
            return False
        try:
            url = url_of(record)
            # the home's owners know of a spread before others do
            keys = {*self._places.keys_of(url), placement_key(url)}
        except ValueError:
            return False
        view = self._overlay.view
        return any(view.is_ready(peer, slot_of(key, view.strategy.slot_bits)) for key in keys if key != record.key)
