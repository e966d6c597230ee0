"""Writes the parts of the status about other members: silent ones, shared work, evidence against authors."""

from collections import Counter

from dht import BalanceReport, Endpoint, Load, NodeId, OverlayService
from node.api.peers import Balance, ContradictedAuthor, LookFigures, MachineLoad, Move, Silent
from node.app.wiring import AuditParts
from node.views.silence import MAX_NAMED


def silent_of(overlay: OverlayService) -> list[Silent]:
    """Return the silent members, a few at most, those first that should answer."""
    silent = overlay.report.silent_members()[:MAX_NAMED]
    endpoints = [next(iter(endpoints_of(overlay, each.node_id)), None) for each in silent]
    return [
        Silent(each.node_id.hex(), place, each.operator, round(each.silent_s), each.stable, each.took_leave)
        for each, place in zip(silent, endpoints, strict=True)
    ]


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
