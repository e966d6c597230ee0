"""Reads the evidence of all finders, by accused author, and fetches pages again before anybody is accused.

A piece counts only with the author's signature, at a place of its site, with two looks far enough apart, by a member
that is not the author. Evidence shows no text: so the newest version of the page is read from the network, and the page
from its site, and the two are compared here. Each page has one outcome. `unlike`: the author's version is still stored,
and its site says something else. `alike`: the site says the same as the author. `replaced, as found`: another version
is stored, and the site says what the finder saw. The others are `replaced`, `gone` (nothing is stored) and `unread`.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from crawl import FamilyMissing, different_bits, signature
from dht import (
    ALIKE_BITS,
    CLOCKS_S,
    DOMAINS_NEEDED,
    EVIDENCE_AT_POINT,
    EVIDENCE_KEPT_S,
    LOOK_AGAIN_S,
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
from node.api.evidence import Accused, AccusedAuthor, EvidencePiece
from node.audit.evidence_keeper import EvidenceKeeper, KeptEvidence, opened
from node.audit.second_look import SecondLook
from store import Kind, Record, Replicator, decode_document, url_of

MAX_AUTHORS = 64  # that are listed, those with most domains first
MAX_PIECES = 16  # of one author
FETCHED_AGAIN = DOMAINS_NEEDED  # pages of one author, each of another registrable domain
READ_WITHIN_S, FETCH_WITHIN_S = 10.0, 20.0  # of one answer, which people wait for


class FoundPiece(NamedTuple):
    """A piece of evidence, and the finder that signed it."""

    finder: NodeId
    found: KeptEvidence


def is_sound(piece: FoundPiece, now: float) -> bool:
    """Tell whether a piece may count. `now`: Unix seconds."""
    evidence, head = piece.found.evidence, piece.found.head
    return (
        piece.finder != head.author
        and head.key[:10] in shards(evidence.site)
        and head.at_ms / 1000 <= evidence.first.at + CLOCKS_S
        and evidence.second.at - evidence.first.at >= LOOK_AGAIN_S - CLOCKS_S
        and now - EVIDENCE_KEPT_S <= evidence.second.at <= now + CLOCKS_S
        and different_bits(evidence.first.text, evidence.second.text) <= ALIKE_BITS
    )


def by_author(pieces: Iterable[FoundPiece], now: float) -> list[tuple[NodeId, list[FoundPiece]]]:
    """Return the sound pieces of each author, one a site and finder; authors with most registrable domains first."""
    accused: dict[NodeId, dict[tuple[str, NodeId], FoundPiece]] = {}
    for piece in pieces:
        if is_sound(piece, now):
            about = piece.found.evidence.site, piece.finder
            accused.setdefault(piece.found.head.author, {}).setdefault(about, piece)
    listed = [(author, list(found.values())) for author, found in accused.items()]
    return sorted(listed, key=lambda each: (-len(domains_of(each[1])), each[0]))[:MAX_AUTHORS]


def domains_of(pieces: Iterable[FoundPiece]) -> set[str]:
    """Return the registrable domains of the pages in some pieces."""
    return {piece.found.domain for piece in pieces}


def seen_again(piece: FoundPiece, record: Record | None, text: bytes) -> str:
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

    async def accused(self, *, fetches: bool) -> Accused:
        """Return the evidence by accused author. `fetches`: fetch some pages of each again where there is enough."""
        listed, until = by_author(await self._pieces(), self._clock().wall), self._clock().steady + FETCH_WITHIN_S
        authors = [await self._author(author, pieces, until if fetches else 0.0) for author, pieces in listed]
        return Accused(domains_needed=DOMAINS_NEEDED, authors=authors)

    async def _pieces(self) -> list[FoundPiece]:
        view = self._overlay.view
        pieces, members = [FoundPiece(view.node_id, found) for found in self._keeper.found], set(view.members())
        for finder, value in await self._read():
            evidence = decode_piece(value) if finder in members and finder != view.node_id else None
            if evidence is not None and (found := opened(evidence)) is not None:
                pieces.append(FoundPiece(finder, found))
        return pieces

    async def _read(self) -> list[tuple[NodeId, bytes]]:
        """Return finders and their values at the points of evidence, as far as they come in time."""
        read = list[tuple[NodeId, bytes]]()
        with suppress(TimeoutError):
            async with asyncio.timeout(READ_WITHIN_S):
                for point in evidence_points(bytes.fromhex(self._overlay.view.strategy.network)):
                    read += await self._overlay.read_point(point, EVIDENCE_AT_POINT)
        return read

    async def _author(self, author: NodeId, pieces: list[FoundPiece], until: float) -> AccusedAuthor:
        """Describe the evidence against one author; pages are fetched again `until` a steady time."""
        domains, again = domains_of(pieces), dict[str, str]()
        if until and len(domains) >= DOMAINS_NEEDED:
            first = {piece.found.domain: piece for piece in reversed(pieces)}
            for domain in sorted(first)[:FETCHED_AGAIN]:
                again[domain] = await self._fetch_again(first[domain], until - self._clock().steady)
        until = self._keeper.without_votes[author].until if author in self._keeper.without_votes else 0.0
        return AccusedAuthor(
            node_id=author.hex(),
            domains=sorted(domains),
            counts=len(domains) >= DOMAINS_NEEDED,
            no_votes_until=until,
            again=again,
            confirmed=sum(said in ("unlike", "replaced, as found") for said in again.values()) >= DOMAINS_NEEDED,
            pieces=[_piece(piece) for piece in pieces[:MAX_PIECES]],
        )

    async def _fetch_again(self, piece: FoundPiece, within_s: float) -> str:
        head = piece.found.head
        record = await self._replicator.read(Kind.DOCUMENT, DocumentId(head.id), Key(head.key), content=False)
        if record is None:
            return "gone"
        self._look.budget.take_look()
        try:
            async with asyncio.timeout(max(within_s, 0.0)):
                return seen_again(piece, record, await self._look.observe(url_of(record)))
        except (FamilyMissing, TimeoutError):
            return "unread"


def _piece(piece: FoundPiece) -> EvidencePiece:
    evidence, head = piece.found.evidence, piece.found.head
    looks: list[float] = [evidence.first.at, evidence.second.at]
    return EvidencePiece(evidence.site, head.id.hex(), head.at_ms / 1000, looks, piece.finder.hex())
