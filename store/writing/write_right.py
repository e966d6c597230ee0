"""Judges whether a record's author held the lease that it was written under: one check for every door.

Documents, outcomes and host records need a grant (`dht/wire/grant.py`): it names their author, slot, epoch and time,
and is signed by a majority of a team. The team must be one of this network, and that is seen from the candidates of
the slot: two of these must have signed, where it has two owners. So nobody writes alone where others are, and the peer
that brings a record does not matter.

Signers may have left meanwhile, or not be known here yet. Then this node asks the ready replicas of the slot, and
refuses what none of them has. Where nobody else is ready there is nobody to be wronged, and it takes the record. So
the ruling depends on the members, on which all agree after a while, and on what is stored; of two versions that were
granted the higher one wins everywhere. A version that erases older ones needs more: most owners of its slot must have
signed its grant, or have the erasure already. An import, behind which there is no lease, is judged by whether its
author may import (`admission.py`).
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import partial

from dht import (
    NodeId,
    Overlay,
    RateLimiter,
    RemoteError,
    SignedGrant,
    Slot,
    counting_owners,
    grant_flaw,
    node_id_of,
    owners_needed,
    signers_needed,
    slot_of,
)
from store.catalog.record_store import RecordStore
from store.record.former_page import erasure_of, is_erasure, page_in
from store.record.messages import AskVersions, HeldVersion, VersionsReply, Wanted
from store.record.package import MAX_RECORDS
from store.record.package_part import PackagePart
from store.record.record import Draft, Kind, Record
from store.writing.admission import TOO_MUCH, ImportQuota, import_flaw, is_import
from store.writing.budget_keeper import AuthorBudgets
from store.writing.proof_thread import ProofThread
from store.writing.ruling import ERASES, LATER, UNKNOWN, WITHOUT, Ruling, needs_grant

log = logging.getLogger(__name__)

ASKED_MOST = 3  # who is ready for a slot, about one record
_SIGNATURE_BYTES = 8192  # checking one takes as long as proving so many bytes of records


class WriteRight:
    """Judges records by their grants, and keeps those that are taken, on one node."""

    def __init__(self, overlay: Overlay, store: RecordStore, proofs: ProofThread) -> None:
        self._overlay, self._store, self._proofs = overlay, store, proofs
        self._config, self._clock = store.config, store.clock
        self._questions = RateLimiter(store.config.stranger_records_s, MAX_RECORDS)
        self._imported, self.budgets = ImportQuota(store.config), AuthorBudgets(overlay, store)

    async def judge(
        self, peer: NodeId, records: Sequence[Record], grants: Sequence[SignedGrant], *, counts: bool = False
    ) -> list[Ruling]:
        """Judge records that a peer brings together with these grants. With `counts` they are to be kept here, and
        count for their authors' limits."""
        rulings = await self._judge(peer, records, grants, counts=counts)
        if counts:
            good = [n for n, ruling in enumerate(rulings) if not ruling.reason]
            self.budgets.note_grants({grant for ruling in rulings if (grant := ruling.grant) is not None})
            for n, reason in (await self.budgets.refusals(peer, [records[n] for n in good])).items():
                rulings[good[n]] = Ruling(reason, is_final=False)
        return rulings

    async def _judge(
        self, peer: NodeId, records: Sequence[Record], grants: Sequence[SignedGrant], *, counts: bool
    ) -> list[Ruling]:
        needing = [n for n, record in enumerate(records) if needs_grant(record.kind, record.version.epoch)]
        rulings = [Ruling()] * len(records)
        for n, reason in (await self._import_reasons(peer, records, counts=counts)).items():
            rulings[n] = Ruling(reason, is_final=reason not in (LATER, TOO_MUCH))
        if not needing:
            return rulings
        sound = await self._sound(grants)
        named = {n: self._named(_written(records[n]), sound) for n in needing}
        granted = {n: (records[n], grant) for n, grant in named.items() if grant is not None}
        for n in needing:
            rulings[n] = Ruling(grant=granted[n][1]) if n in granted else Ruling(WITHOUT)
        known = {grant: self.is_known(grant) for grant in {grant for _, grant in granted.values()}}
        doubtful = [n for n, (r, grant) in granted.items() if not self._needs_no_word(r, grant, known)]
        said = await self._ask_others(peer, [granted[n] for n in doubtful])
        for n, reason in zip(doubtful, said, strict=True):
            rulings[n] = rulings[n]._replace(reason=reason, is_final=reason != LATER)
        return rulings

    async def put(
        self, records: Sequence[Record], rulings: Sequence[Ruling], parts: Sequence[PackagePart] = ()
    ) -> None:
        """Keep records that were judged so, those of whole `parts` as they came; durable when this returns. Raises
        MachineRefuses or StoreCorrupt."""
        is_written = False
        try:
            await self.keep_grants(ruling.grant for ruling in rulings)
            pairs = zip(records, rulings, strict=True)
            erasures = [erasure for pair in pairs if (erasure := self._to_erase(*pair)) is not None]
            await self._store.put([*records, *erasures], parts)
            is_written = True
        finally:
            self.budgets.settle(records, is_written=is_written)

    def _to_erase(self, record: Record, ruling: Ruling) -> Record | None:
        """Return what erases the former versions of a page that asks for it, None where nothing may. The page's grant
        must be from most owners, so two candidates that conspire erase nothing; a former owner erases nothing."""
        if (erasure := erasure_of(record)) is None or ruling.grant is None:  # nearly always
            return None
        is_ours = slot_of(record.key, (view := self._overlay.view).strategy.slot_bits) in view.owned()
        return erasure if is_ours and self.is_of_most_owners(ruling.grant, record.key) else None

    def import_flaw(self, key: bytes) -> str:
        """Say why the owner of a public key may not import pages, "" where it may."""
        return import_flaw(key, self._overlay.view.strategy, self._overlay.view.members())

    def own_ruling(self, imported: Record) -> Ruling:
        """Return the ruling on an import that is written into this node's own slots. Its own ones count there as
        anywhere, unless it is alone: else they would pile up where nobody else takes them."""
        view = self._overlay.view
        is_mine = node_id_of(imported.proof.author) == view.node_id
        if is_mine and len(view.members()) > 1 and not self._imported.take(imported, self._clock()):
            return Ruling(TOO_MUCH, is_final=False)
        return Ruling()

    async def _import_reasons(self, peer: NodeId, records: Sequence[Record], *, counts: bool) -> dict[int, str]:
        """Return for each import among some records, by its number, why it is refused, "" where it is accepted. Its
        author must have the right to import, or other nodes that are ready for the slot must have it already. `counts`:
        it must also be within its author's daily bound."""
        numbers = [n for n, record in enumerate(records) if is_import(record)]
        if not numbers:
            return {}
        flaws = {key: self.import_flaw(key) for key in {records[n].proof.author for n in numbers}}
        doubtful = [n for n in numbers if flaws[records[n].proof.author]]
        said = await self._ask_others(peer, [(records[n], None) for n in doubtful])
        reasons = dict.fromkeys(numbers, "") | dict(zip(doubtful, said, strict=True))
        reasons = {n: f"its author {flaws[records[n].proof.author]}" if r == UNKNOWN else r for n, r in reasons.items()}
        counted = [n for n in numbers if counts and not reasons[n]]
        return reasons | dict(zip(counted, await self._beyond_quota(peer, [records[n] for n in counted]), strict=True))

    async def _beyond_quota(self, peer: NodeId, imports: Sequence[Record]) -> list[str]:
        """Return for each import why it exceeds its author's daily bound, "" where it does not. Each import counts,
        whichever peer brings it. Exempt are old ones that most of the nodes have which counted them when they came."""
        named = [self._who_counted(peer, record) for record in imports]
        words, now = await self._words(imports, [peers or () for peers in named]), self._clock()
        reasons = list[str]()
        for record, peers, said in zip(imports, named, words, strict=True):
            is_old = peers is not None and (not peers or 2 * said.count(True) > len(said))
            is_taken = is_old or self._imported.take(record, now)
            reasons.append("" if is_taken else LATER if None in said else TOO_MUCH)
        return reasons

    def _who_counted(self, peer: NodeId, record: Record) -> Set[NodeId] | None:
        """Return the nodes that counted an import when it came; None where the import is new. It is new where this node
        is ready for its slot and it was not moved from another place of its site. Where no other node is ready, an old
        one needs no word."""
        view = self._overlay.view
        is_level = view.is_ready(view.node_id, slot_of(record.key, view.strategy.slot_bits))
        if is_level and record.signed_key == record.key:
            return None
        return self._ready(record, None) - {peer, view.node_id, node_id_of(record.proof.author)}

    def _needs_no_word(self, record: Record, grant: SignedGrant, known: Mapping[SignedGrant, bool]) -> bool:
        """Whether a grant alone says that a record may be kept."""
        return self.is_of_most_owners(grant, record.key) if _is_erasure(record) else known[grant]

    async def keep_grants(self, grants: Iterable[SignedGrant | None]) -> None:
        """Keep the grants of records that are taken; before these. Raises MachineRefuses or StoreCorrupt."""
        await self._store.grants.keep({grant for grant in grants if grant is not None})

    def named_by(self, records: Iterable[Record]) -> tuple[SignedGrant, ...]:
        """Return the grants that prove records, each once; they travel with them. A grant that this node got later may
        prove what it wrote: by now the slot may have other voters."""
        found = dict[SignedGrant, None]()
        for record in map(_written, records):
            grants = self._grants_of(record) if record.version.epoch else []
            best = self._best(grants, record.key)
            found |= dict.fromkeys([best] if best is not None else grants)
        return tuple(found)

    def is_of_most_owners(self, signed: SignedGrant, key: bytes) -> bool:
        """Tell whether most owners of a grant's slot have signed it, the sleeping ones counted. `key`: where something
        lies that was written under it; since slots were doubled or its site spread, that slot may have other owners."""
        bits = self._overlay.view.strategy.slot_bits
        slots = {signed.grant.first_slot(bits), slot_of(key, bits)}
        return any(self._lacking(signed, slot, signed.signers) <= 0 for slot in slots)

    def _lacking(self, signed: SignedGrant, slot: Slot, saying: Collection[NodeId]) -> int:
        """How many more owners of a slot must say that a version may erase others."""
        owners = counting_owners(self._overlay.view.owners(slot), self._overlay.view.votes.stopped(signed))
        return owners_needed(len(owners)) - sum(owner in saying for owner in owners)

    def _grants_of(self, record: Record) -> list[SignedGrant]:
        """The grants here under which a record may have been written, this node's own among them."""
        author, (epoch, at_ms, _) = node_id_of(record.proof.author), record.version
        found = self._store.grants.covering(author, record.signed_key, epoch, at_ms)
        if author == self._overlay.view.node_id:
            found += [g for g in self._own(record.signed_key) if g.grant.covers(record.signed_key, epoch, at_ms)]
        return list(dict.fromkeys(found))

    def written_under(self, draft: Draft) -> SignedGrant | None:
        """Return the grant of this node that a draft is written under, None where none covers its instant. Of several
        it prefers, in this order: a known grant, one of the draft's own tenure, the newest, and one of most owners. Of
        equals the one that ends first counts, so that few are kept."""
        fit = [g for g in self._own(draft.key) if g.grant.covers(draft.key, g.grant.epoch, draft.at_ms)]

        def order(signed: SignedGrant) -> tuple[bool, bool, int, bool, int]:
            grant = signed.grant
            is_own = grant.epoch == draft.epoch
            return self.is_known(signed), is_own, grant.epoch, self.is_of_most_owners(signed, draft.key), -grant.until_s

        return max(fit, key=order) if len(fit) > 1 else next(iter(fit), None)

    def _own(self, key: bytes) -> Sequence[SignedGrant]:
        view = self._overlay.view
        return view.votes.grants(slot_of(key, view.strategy.slot_bits))

    async def _sound(self, grants: Sequence[SignedGrant]) -> dict[tuple[bytes, int], list[SignedGrant]]:
        """Those whose signatures verify, by holder and epoch."""
        network = bytes.fromhex(self._overlay.view.strategy.network)
        judge = partial(_flaws, grants, network, self._overlay.view.tie_breakers())
        flaws = await self._proofs.run(judge, _SIGNATURE_BYTES * len(grants))
        found: dict[tuple[bytes, int], list[SignedGrant]] = {}
        for grant in (grant for grant, flaw in zip(grants, flaws, strict=True) if not flaw):
            found.setdefault((grant.grant.holder, grant.grant.epoch), []).append(grant)
        return found

    def _named(self, record: Record, sound: dict[tuple[bytes, int], list[SignedGrant]]) -> SignedGrant | None:
        author, (epoch, at_ms, _) = node_id_of(record.proof.author), record.version
        brought = [g for g in sound.get((author, epoch), ()) if g.grant.covers(record.signed_key, epoch, at_ms)]
        grants = brought or self._store.grants.covering(author, record.signed_key, epoch, at_ms)
        if len(grants) == 1:
            return grants[0]
        return self._best(grants, record.key) or next(iter(grants), None)

    def _best(self, grants: Sequence[SignedGrant], key: bytes) -> SignedGrant | None:
        of_most = (grant for grant in grants if self.is_of_most_owners(grant, key))
        return next(of_most, None) or next(filter(self.is_known, grants), None)

    def is_known(self, signed: SignedGrant) -> bool:
        """Tell whether as many candidates of its slot have signed a grant as are needed, without those who had
        stopped."""
        view = self._overlay.view
        slot = signed.grant.first_slot(view.strategy.slot_bits)
        owners = counting_owners(view.owners(slot), view.votes.stopped(signed))
        return len(signed.signers & set(view.candidates(slot))) >= signers_needed(len(owners))

    async def _ask_others(self, peer: NodeId, pairs: Sequence[tuple[Record, SignedGrant | None]]) -> list[str]:
        """Why each of some records is not taken, as others say; "" where it is."""
        if not pairs:
            return []
        if not self._questions.take(peer, self._clock().steady, len(pairs)):
            return [LATER] * len(pairs)
        erasures = iter(await self._ask_owners([pair for pair in pairs if _is_erasure(pair[0])]))
        others = iter(await self._ask_ready(peer, [pair for pair in pairs if not _is_erasure(pair[0])]))
        return [next(erasures if _is_erasure(record) else others) for record, _ in pairs]

    async def _ask_owners(self, pairs: Sequence[tuple[Record, SignedGrant | None]]) -> list[str]:
        """Why each of some erasures is not taken, "" where as many owners of its slot have it, or signed its grant, as
        are needed."""
        view = self._overlay.view
        slots = [slot_of(record.key, view.strategy.slot_bits) for record, _ in pairs]
        signers = [signed.signers if signed is not None else frozenset() for _, signed in pairs]
        owners = [filter(view.is_live, view.owners(slot)) for slot in slots]
        asked = [{*live} - signed for live, signed in zip(owners, signers, strict=True)]
        words = await self._words([record for record, _ in pairs], asked)
        reasons = list[str]()
        for (_, signed), slot, said in zip(pairs, slots, words, strict=True):
            lacking = self._lacking(signed, slot, signed.signers) if signed is not None else 1
            reasons.append("" if said.count(True) >= lacking else LATER if None in said else ERASES)
        return reasons

    async def _ask_ready(self, peer: NodeId, pairs: Sequence[tuple[Record, SignedGrant | None]]) -> list[str]:
        """Return for each record why it is refused, "" where it is accepted. The peers that are ready for its slot, or
        for the slot in which it was written, are asked. It is accepted where one of them has it, or where there is no
        such peer."""
        ready = [self._ready(*pair) - {peer} for pair in pairs]
        words = await self._words([record for record, _ in pairs], ready)
        return [_verdict(said) if peers else "" for peers, said in zip(ready, words, strict=True)]

    async def _words(self, records: Sequence[Record], asked: Sequence[Collection[NodeId]]) -> list[list[bool | None]]:
        """Ask up to ASKED_MOST of the given peers about each record. Return their answers by record: whether a peer has
        it, None where it did not answer."""
        me, words = self._overlay.view.node_id, [list[bool | None]() for _ in records]
        parts: dict[NodeId, list[int]] = {}
        for n, peers in enumerate(asked):
            for other in sorted({*peers} - {me})[:ASKED_MOST]:
                parts.setdefault(other, []).append(n)
        async with asyncio.TaskGroup() as tasks:
            for other, numbers in parts.items():
                questions = [(records[n], words[n]) for n in numbers]
                tasks.create_task(self._ask(other, questions), name="store-ask-versions")
        return words

    async def _ask(self, other: NodeId, asked: Sequence[tuple[Record, list[bool | None]]]) -> None:
        """Add to the words on some records whether a peer has them; None where it does not say."""
        message = AskVersions(tuple(Wanted(r.kind, r.id, r.key) for r, _ in asked))
        versions: Sequence[HeldVersion | None] = ()
        try:
            reply = await self._overlay.ask(other, message, VersionsReply, timeout_s=self._config.read_timeout_s)
            versions = reply.versions
        except RemoteError as error:
            log.debug("no word of records peer=%s count=%d reason=%s", other.hex(), len(asked), error)
        for n, (record, words) in enumerate(asked):
            held = versions[n] if n < len(versions) else None
            has = held is not None and held.version == record.version.short
            words.append(has if n < len(versions) else None)

    def _ready(self, record: Record, signed: SignedGrant | None) -> Set[NodeId]:
        view = self._overlay.view
        bits = view.strategy.slot_bits
        other = signed.grant.first_slot(bits) if signed is not None else slot_of(record.signed_key, bits)
        return {peer for slot in (slot_of(record.key, bits), other) for peer in view.ready(slot)}


def _written(record: Record) -> Record:
    """The record that was written under a lease: a record itself, or the page that it holds."""
    return page_in(record) if record.kind == Kind.FORMER else record


def _is_erasure(record: Record) -> bool:
    """Whether a record drops older versions of its page."""
    return record.kind == Kind.FORMER and is_erasure(record.id)


def _verdict(words: Sequence[bool | None]) -> str:
    """Why a record is not taken, by the words of those who were asked; "" where it is."""
    if True in words:
        return ""
    return LATER if None in words else UNKNOWN


def _flaws(grants: Sequence[SignedGrant], network: bytes, tie_breakers: Set[NodeId]) -> list[str]:
    return [grant_flaw(grant, network, tie_breakers) for grant in grants]
