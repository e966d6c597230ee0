"""Writes the parts of the status about this machine: open files, the scrub of the disk, copies of slots, faults."""

import os
import resource
from collections import Counter

from dht import BalanceReport, Endpoint, Load, LocalFault, NodeId, OverlayService, SilentMember, Slot
from node.api.operation import ScrubProgress
from node.api.peers import (
    AuthorLimits,
    Balance,
    BeyondLimits,
    ContradictedAuthor,
    LookFigures,
    MachineLoad,
    Move,
    Silent,
    TakesNoMore,
)
from node.api.status import Copies, Fault, OpenFiles
from node.app.wiring import AuditParts
from node.views.silence import MAX_NAMED
from store import CopyCounts, Excess, Replicator, ScrubStatus


def silent_of(overlay: OverlayService) -> list[Silent]:
    """Return the silent members, a few at most, those first that should answer."""
    silent = overlay.report.silent_members()[:MAX_NAMED]
    return [_silent(overlay, each) for each in silent]


def _silent(overlay: OverlayService, each: SilentMember) -> Silent:
    """Say who is silent, and what became of what it crawled and kept."""
    view, beat = overlay.view, overlay.view.peers.heartbeat(each.node_id)
    knows = beat is not None and beat.slot_bits == view.strategy.slot_bits
    crawled = beat.leased_slots if beat is not None and knows else frozenset[Slot]()
    kept = beat.ready_slots if beat is not None and knows else frozenset[Slot]()
    taken = sum(slot in view.leases() or bool(view.announced(slot)) for slot in crawled)
    return Silent(
        node_id=each.node_id.hex(),
        endpoint=next(iter(endpoints_of(overlay, each.node_id)), None),
        operator=each.operator,
        silent_s=round(each.silent_s),
        stable=each.stable,
        farewell=each.took_leave,
        own=each.is_own,
        crawled=len(crawled),
        taken_over=taken,
        copies=min((len(view.ready(slot)) for slot in kept), default=None),
    )


def endpoints_of(overlay: OverlayService, peer: NodeId) -> list[Endpoint]:
    """Return the addresses of a member, or of this node, as far as they are known."""
    contact = overlay.view.contact(peer)
    return list(contact.endpoints) if contact else []


def second_looks_of(parts: AuditParts) -> LookFigures:
    """Return the counts since the start, the kept pieces by accused author, and the authors without votes."""
    looks, look, keeper = parts.second_looks, parts.look, parts.evidence
    pieces = Counter(each.head.author.hex() for each in keeper.found)
    contradicted = [
        ContradictedAuthor(author.hex(), list(each.domains), each.until, author not in keeper.without_votes)
        for author, each in keeper.contradicted().items()
    ]
    counts = look.fetches, looks.compared, looks.unlike, looks.confirmed, look.without_turn
    return LookFigures(*counts, dict(sorted(pieces.items())), contradicted)


def beyond_of(excess: Excess | None) -> BeyondLimits | None:
    """Return what an author brought beyond its limits; None where that is nothing."""
    if excess is None:
        return None
    return BeyondLimits(excess.site, excess.room, excess.found, excess.held_bytes, round(excess.at, 1))


def roomless_of(overlay: OverlayService, replicator: Replicator) -> dict[NodeId, tuple[float, str]]:
    """Return the members that say that they have room, and count as full here all the same, with when and why."""
    return {peer: each for peer, each in replicator.without_room().items() if overlay.view.claims_room(peer)}


def limits_of(overlay: OverlayService, replicator: Replicator) -> AuthorLimits:
    """Return who went beyond its limits here, the last ones first, who takes no more of this node, and who has no room
    though it says so."""
    budgets = replicator.budgets
    last = sorted(budgets.excesses.items(), key=lambda each: -each[1].at)[:MAX_NAMED]
    authors = {author.hex(): beyond for author, excess in last if (beyond := beyond_of(excess)) is not None}
    refused = [TakesNoMore(peer.hex(), round(at, 1), reason) for peer, (at, reason) in budgets.refused.items()]
    roomless = [
        TakesNoMore(peer.hex(), round(at, 1), why) for peer, (at, why) in roomless_of(overlay, replicator).items()
    ]
    return AuthorLimits(authors, refused[-MAX_NAMED:], roomless[-MAX_NAMED:])


def balance_of(report: BalanceReport) -> Balance:
    """Say how work is shared between this node and others: what is due, what moved, and why nothing does."""
    outlook = report.outlook
    moves = [
        Move(
            *(round(at, 3), lot.peer.hex(), len(lot.slots), lot.here, lot.there),
            *(round(lot.k, 2), round(lot.beta, 3), lot.reason),
        )
        for at, lot in report.moves
    ]
    mean = round(outlook.mean, 1)
    return Balance(outlook.mine, mean, outlook.peers, outlook.reason, report.lent, report.borrowed, moves)


def load_of(load: Load) -> MachineLoad:
    """Return the shares of a machine that are in use."""
    return MachineLoad(load.cpu, load.memory, load.disk, load.network)


def open_files() -> OpenFiles:
    """Say how many files this process may have open at once, and has; None where the system does not say."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        is_open = len(os.listdir("/proc/self/fd"))
    except OSError:
        is_open = None
    return OpenFiles(limit=None if limit == resource.RLIM_INFINITY else limit, open=is_open)


def scrub_of(scrub: ScrubStatus) -> ScrubProgress:
    """Say how far the reading through of the disk is, and what was damaged; times are Unix seconds, 0 for never."""
    told = scrub._asdict()
    times = {name: int(told[name]) for name in ("begun_at", "ended_at", "asked_at", "read_at")}
    return ScrubProgress(**told | times | {"share": round(scrub.share, 3), "open": scrub.open})


def copies_of(copies: CopyCounts) -> Copies:
    """How many live copies this node's slots have, and what it keeps for owners that are silent."""
    return Copies(
        least=copies.least,
        mean=round(copies.mean, 2),
        slots={str(count): slots for count, slots in copies.slots_by_copies.items()},
        oldest_s=round(copies.oldest_s),
        oldest_slot=copies.oldest,
        kept=copies.kept,
        copying=copies.copying,
    )


def fault_of(fault: LocalFault) -> Fault:
    """Say what fails, why, since when and what helps."""
    return Fault(fault.site.name.lower(), fault.cause, fault.since, fault.what_stops, fault.remedy)
