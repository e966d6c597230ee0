"""Reads the evidence of all finders, by accused author, and fetches pages again before anybody is accused.

Pure but for reading and fetching. A piece counts only with the author's signature, at a place of its site, with two
looks far enough apart, by a member that is not the author. Evidence shows no text: so the newest version of the page is
read from the network, and the page from its site, and the two are compared here.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from crawl import FamilyMissing, different_bits, signature
from dht import (
    AGAIN_S,
    ALIKE_BITS,
    CLOCKS_S,
    DOMAINS_NEEDED,
    KEPT_S,
    RECORDS_AT_POINT,
    UNLIKE_BITS,
    Clock,
    DocumentId,
    Key,
    NodeId,
    Overlay,
    decode_piece,
    evidence_points,
    shards,
)
from node.audit.evidence_keeper import EvidenceKeeper, Found, opened
from node.audit.second_look import SecondLook
from store import Kind, Record, Replicator, decode_document, url_of

MAX_AUTHORS = 64  # that are listed, those with most domains first
MAX_PIECES = 16  # of one author
FETCHED_AGAIN = 3  # pages of one author, each of another registrable domain

Json = dict[str, Any]


class Piece(NamedTuple):
    """A piece of evidence, and the finder that signed it."""

    finder: NodeId
    found: Found


def is_sound(piece: Piece, now: float) -> bool:
    """Tell whether a piece may count. `now`: Unix seconds."""
    evidence, head = piece.found.evidence, piece.found.head
    return (
        piece.finder != head.author
        and head.key[:10] in shards(evidence.site)
        and head.at_ms / 1000 <= evidence.first.at + CLOCKS_S
        and evidence.second.at - evidence.first.at >= AGAIN_S - CLOCKS_S
        and now - KEPT_S <= evidence.second.at <= now + CLOCKS_S
        and different_bits(evidence.first.text, evidence.second.text) <= ALIKE_BITS
    )


def by_author(pieces: Iterable[Piece], now: float) -> list[tuple[NodeId, list[Piece]]]:
    """Return the sound pieces of each author, one a site and finder; authors with most registrable domains first."""
    accused: dict[NodeId, dict[tuple[str, NodeId], Piece]] = {}
    for piece in pieces:
        if is_sound(piece, now):
            about = piece.found.evidence.site, piece.finder
            accused.setdefault(piece.found.head.author, {}).setdefault(about, piece)
    listed = [(author, list(found.values())) for author, found in accused.items()]
    return sorted(listed, key=lambda each: (-len(domains_of(each[1])), each[0]))[:MAX_AUTHORS]


def domains_of(pieces: Iterable[Piece]) -> set[str]:
    """Return the registrable domains of the pages in some pieces."""
    return {piece.found.domain for piece in pieces}


def seen_again(piece: Piece, record: Record | None, text: bytes) -> str:
    """Say what a further look shows. `record`: the newest version of the page; `text`: what its site shows now."""
    if not text:
        return "unread"
    head, second = piece.found.head, piece.found.evidence.second
    if record is not None and record.version.short == head.version and record.proof.author == head.public_key:
        is_unlike = different_bits(signature(decode_document(record.body).text), text) > UNLIKE_BITS
        return "unlike" if is_unlike else "alike"
    return "replaced, as found" if different_bits(second.text, text) <= ALIKE_BITS else "replaced"


class EvidenceDesk:
    """Answers `/api/v1/evidence`."""

    def __init__(
        self, overlay: Overlay, keeper: EvidenceKeeper, replicator: Replicator, look: SecondLook, clock: Clock
    ) -> None:
        self._overlay, self._keeper, self._replicator = overlay, keeper, replicator
        self._look, self._clock = look, clock

    async def accused(self, *, fetches: bool) -> Json:
        """Return the evidence by accused author. `fetches`: fetch some pages of each again where there is enough."""
        listed = by_author(await self._pieces(), self._clock().wall)
        return {
            "domains_needed": DOMAINS_NEEDED,
            "authors": [await self._author(author, pieces, fetches=fetches) for author, pieces in listed],
        }

    async def _pieces(self) -> list[Piece]:
        view = self._overlay.view
        pieces, members = [Piece(view.node_id, found) for found in self._keeper.found], set(view.members())
        for point in evidence_points(bytes.fromhex(view.strategy.network)):
            for finder, value in await self._overlay.read_point(point, RECORDS_AT_POINT):
                evidence = decode_piece(value) if finder in members and finder != view.node_id else None
                if evidence is not None and (found := opened(evidence)) is not None:
                    pieces.append(Piece(finder, found))
        return pieces

    async def _author(self, author: NodeId, pieces: list[Piece], *, fetches: bool) -> Json:
        domains, again = domains_of(pieces), dict[str, str]()
        if fetches and len(domains) >= DOMAINS_NEEDED:
            first = {piece.found.domain: piece for piece in reversed(pieces)}
            for domain in sorted(first)[:FETCHED_AGAIN]:
                again[domain] = await self._fetch_again(first[domain])
        until = self._keeper.without_votes[author].until if author in self._keeper.without_votes else 0.0
        return {
            "node_id": author.hex(),
            "domains": sorted(domains),
            "counts": len(domains) >= DOMAINS_NEEDED,
            "no_votes_until": until,
            "again": again,
            "confirmed": sum(said in ("unlike", "replaced, as found") for said in again.values()) >= DOMAINS_NEEDED,
            "pieces": [_piece_json(piece) for piece in pieces[:MAX_PIECES]],
        }

    async def _fetch_again(self, piece: Piece) -> str:
        head = piece.found.head
        record = await self._replicator.read(Kind.DOCUMENT, DocumentId(head.id), Key(head.key), content=False)
        if record is None:
            return "gone"
        self._look.budget.take_look()
        try:
            return seen_again(piece, record, await self._look.observe(url_of(record)))
        except FamilyMissing:
            return "unread"


def _piece_json(piece: Piece) -> Json:
    evidence, head = piece.found.evidence, piece.found.head
    return {
        "site": evidence.site,
        "document": head.id.hex(),
        "written_at": head.at_ms / 1000,
        "looks": [evidence.first.at, evidence.second.at],
        "finder": piece.finder.hex(),
    }
