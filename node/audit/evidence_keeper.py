"""Keeps the evidence that this node found, publishes it, and withdraws this node's votes from contradicted authors.

The pieces lie in one small file apart from the store, whose catalog may be lost and built anew. Some of them lie in
small records at the network's points, one at each, which this node writes anew before they end. This node's own second
looks may contradict an author's pages on DOMAINS_NEEDED registrable domains within a week. Then it does not vote for
that author for a week: the leases pass to other owners, who fetch the author's pages again. Copies do not move. In a
network of up to SMALL members nobody could take the leases over, so the node only reports the need to its owner.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from crawl import domain_of
from dht import (
    DOMAINS_NEEDED,
    EVIDENCE_KEPT,
    EVIDENCE_KEPT_S,
    MAX_EVIDENCE_BYTES,
    NO_VOTES_S,
    Clock,
    Evidence,
    NodeId,
    Overlay,
    decode_pieces,
    encode_piece,
    encode_pieces,
    evidence_points,
    node_id_of,
    split_url,
    write_atomically,
)
from store import Record, SignedHead, open_signed_head

log = logging.getLogger(__name__)

STEP_S = 5.0
SMALL = 3  # members
LIFE_S = 44 * 3600.0  # of the record at the point
AGAIN_S = 12 * 3600.0  # it is written anew
MAX_FILE_BYTES = 1 << 17


class KeptEvidence(NamedTuple):
    """One piece of evidence and the signed head in it, verified."""

    evidence: Evidence
    head: SignedHead

    @property
    def domain(self) -> str:
        """The registrable domain of the page."""
        return domain_of(split_url(f"https://{self.evidence.site}/").host)

    @property
    def at(self) -> int:
        """When it was found (Unix seconds)."""
        return self.evidence.second.at


class Contradicted(NamedTuple):
    """An author without this node's votes.

    `since`: what it wrote from then on is fetched again (Unix seconds).
    `until`: when the votes come back (Unix seconds).
    """

    since: float
    until: float
    domains: tuple[str, ...]


def contradicted(found: Iterable[KeptEvidence], now: float) -> dict[NodeId, Contradicted]:
    """Return the authors that pieces of one week contradict on enough domains, until a week after the last of these."""
    by_author: dict[NodeId, list[KeptEvidence]] = {}
    for each in found:
        by_author.setdefault(each.head.author, []).append(each)
    judged = ((author, _contradicted(pieces)) for author, pieces in sorted(by_author.items()))
    return {author: each for author, each in judged if each is not None and now < each.until}


def _contradicted(pieces: Sequence[KeptEvidence]) -> Contradicted | None:
    """Judge by the newest week that has enough domains."""
    for end in sorted({each.at for each in pieces}, reverse=True):
        week = [each for each in pieces if end - NO_VOTES_S <= each.at <= end]
        domains = {each.domain for each in week}
        if len(domains) >= DOMAINS_NEEDED:
            since = min(each.head.at_ms / 1000 for each in week) - NO_VOTES_S
            return Contradicted(since, end + NO_VOTES_S, tuple(sorted(domains)))
    return None


def chosen_to_publish(found: Iterable[KeptEvidence], finder: NodeId) -> list[bytes]:
    """Return the values to publish, the first first: of each author one a domain, authors with most domains first.

    Finders choose different domains, so that together they show an author's pages on many."""
    by_author: dict[NodeId, dict[str, KeptEvidence]] = {}
    for each in found:
        by_author.setdefault(each.head.author, {})[each.domain] = each
    ranked = sorted(by_author.items(), key=lambda item: (-len(item[1]), item[0]))
    lot = lambda domain: sha256(finder + domain.encode()).digest()  # noqa: E731
    chosen = [pieces[domain].evidence for _, pieces in ranked for domain in sorted(pieces, key=lot)]
    return [value for value in map(encode_piece, chosen) if len(value) <= MAX_EVIDENCE_BYTES]


class EvidenceKeeper:
    """The evidence of one node. `path`: its file; None keeps the evidence for one run."""

    def __init__(self, overlay: Overlay, path: Path | None, clock: Clock) -> None:
        self._overlay, self._path, self._clock = overlay, path, clock
        self._found = [each for piece in _load(path) if (each := opened(piece)) is not None]
        self._write_at = clock().steady
        self._without_votes: Mapping[NodeId, Contradicted] = {}
        self._withdraw_votes()

    @property
    def found(self) -> tuple[KeptEvidence, ...]:
        """The pieces that this node keeps, the oldest first."""
        return tuple(self._found)

    def sites(self) -> set[tuple[NodeId, str]]:
        """Return authors, and the sites at which this node found their pages unlike."""
        return {(each.head.author, each.evidence.site) for each in self._found}

    def has(self, author: NodeId, site: str) -> bool:
        """Tell whether there is evidence against an author at a site: one page of a site is enough."""
        return (author, site) in self.sites()

    async def add(self, evidence: Evidence) -> None:
        """Keep a piece, publish it soon, and withdraw votes where there is enough."""
        found = opened(evidence)
        if found is None or self.has(found.head.author, evidence.site):
            return
        log.warning("evidence found author=%s site=%s", found.head.author.hex(), evidence.site)
        self._found = [*self._found, found][-EVIDENCE_KEPT:]
        self._write_at = self._clock().steady
        self._withdraw_votes()
        await self._save()

    @property
    def without_votes(self) -> Mapping[NodeId, Contradicted]:
        """The authors that get no votes of this node, as of the last step."""
        return self._without_votes

    def contradicted(self) -> Mapping[NodeId, Contradicted]:
        """Return the authors that this node's second looks contradict on enough domains."""
        return contradicted(self._found, self._clock().wall)

    @property
    def mark(self) -> object:
        """A value that changes whenever other versions are doubted."""
        return tuple((author, each.since) for author, each in self.without_votes.items())

    @property
    def is_any(self) -> bool:
        """Whether any version is doubted."""
        return bool(self.without_votes)

    def is_doubted(self, record: Record) -> bool:
        """Tell whether a contradicted author wrote a version within the time that is doubted."""
        author = self.without_votes.get(node_id_of(record.proof.author))
        return author is not None and record.version.at_ms / 1000 >= author.since

    async def step(self) -> float:
        """Publish what is due, and forget old pieces; return the seconds to rest."""
        now = self._clock()
        kept = [each for each in self._found if now.wall - each.at <= EVIDENCE_KEPT_S]
        if len(kept) < len(self._found):
            self._found = kept
            await self._save()
        self._withdraw_votes()
        if self._found and now.steady >= self._write_at:
            self._write_at = now.steady + AGAIN_S
            await self._publish()
        return STEP_S

    async def _publish(self) -> None:
        """Write a piece at each point; those about authors that are members no more show nothing that helps."""
        view = self._overlay.view
        members = set(view.members())
        values = chosen_to_publish((each for each in self._found if each.head.author in members), view.node_id)
        for point, value in zip(evidence_points(bytes.fromhex(view.strategy.network)), values, strict=False):
            count = await self._overlay.write_point(point, value, LIFE_S)
            log.info("evidence published bytes=%d copies=%d", len(value), count)

    def _withdraw_votes(self) -> None:
        is_small = len(self._overlay.view.members()) <= SMALL
        self._without_votes = {} if is_small else self.contradicted()
        self._overlay.withhold_votes(frozenset(self._without_votes))

    async def _save(self) -> None:
        await asyncio.to_thread(_save, self._path, encode_pieces(each.evidence for each in self._found))


def opened(evidence: Evidence) -> KeptEvidence | None:
    """Verify the signed head of a piece; None where its author did not sign it."""
    head = open_signed_head(evidence.head)
    return None if head is None else KeptEvidence(evidence, head)


def _load(path: Path | None) -> tuple[Evidence, ...]:
    try:
        if path is None or path.stat().st_size > MAX_FILE_BYTES:
            return ()
        return decode_pieces(path.read_bytes())
    except FileNotFoundError:
        return ()
    except OSError as error:
        log.warning("evidence of earlier runs is not read path=%s reason=%s", path, error)
        return ()


def _save(path: Path | None, data: bytes) -> None:
    """Replace the file, whole or not at all; where the machine refuses, the evidence lasts as long as this run."""
    if path is None:
        return
    try:
        write_atomically(path, data)
    except OSError as error:
        log.warning("evidence is not kept path=%s reason=%s", path, error)
