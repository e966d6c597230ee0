"""Says what is wrong with records before any of them is kept: one check for every door.

All records pass here, whether peers push them, this node pulls them or writes them itself. So the first node that sees
a bad record refuses it. The check judges a record's form and place, its body, its author's proof, and whether the
strategy takes it back (`denial.py`). Its caller provides the rules for canonical URLs and visits (`BodyRules`).

Pure: records in, reasons out; whatever a stranger wrote, nothing is raised.
`time_flaw` judges it by a node's clock: `wall` is Unix time in seconds.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple, Protocol

from dht import DocumentId, Key, SiteShards, document_id, placement_key
from store.record.denial import RecordDenial
from store.record.document import decode_document, document_flaw
from store.record.former_page import former_flaw, page_in, proof_flaws
from store.record.host_record import decode_host, host_flaw
from store.record.package import MAX_AT_MS, MAX_EPOCH, MAX_RECORD_BYTES, depth_of, url_in, url_of
from store.record.record import Draft, Kind, Record, Version, digest_of

DAY_S = 86400.0
EPOCH_AHEAD_S = DAY_S + 120.0  # epochs are seconds; voters believe none further ahead (`dht/leases/voter.py`)
AHEAD_S = 120.0  # an outcome from further in the future is refused: its author's clock is wrong
MAX_DAYS = 3660  # the longest that a record may ask to be kept


def time_flaw(record: Record, wall: float) -> str:
    """Say why a record must not be kept at this time, "" where it may."""
    today = int(wall // DAY_S)
    if not today <= record.expires_day <= today + MAX_DAYS:
        return f"expires on day {record.expires_day}, today is {today}"
    ahead_s = record.version.at_ms / 1000 - wall
    is_dated = record.version.epoch > 0 or record.kind in (Kind.DOCUMENT, Kind.FORMER)
    if is_dated and ahead_s > AHEAD_S:
        return f"dated {ahead_s:.0f} s in the future"
    if record.version.epoch > wall + EPOCH_AHEAD_S:
        return f"epoch {record.version.epoch} is more than a day in the future"
    return ""


MAX_URL_CHARS = 2048  # of a canonical URL, see `crawl/canonical_url.py`
MOST_SOUND = 1 << 14  # records whose judgement is remembered: some 4 MB
MAX_COUNTED = 256  # authors and peers whose refused records are counted apart; the one heard of first gives way
NOTHING = sha256(b"").digest()


class SoundRecords:
    """Remembers the records that were found sound lately, by one set of rules. Without it each record would be judged
    at the door, and again by all that follow the change log."""

    def __init__(self) -> None:
        self._known = OrderedDict[tuple[Kind, DocumentId, Key, Version], None]()

    def has(self, record: Record) -> bool:
        """Tell whether a record is among them; any thread may ask and add."""
        return (record.kind, record.id, record.key, record.version) in self._known

    def add(self, record: Record) -> None:
        """Remember a record whose digests are those of what it holds."""
        self._known[record.kind, record.id, record.key, record.version] = None
        if len(self._known) > MOST_SOUND:
            self._known.popitem(last=False)


class BodyRules(Protocol):
    """Judges what the store cannot read itself; each answer is a reason, "" where nothing is wrong."""

    sound: SoundRecords  # by these rules

    def url_flaw(self, url: str) -> str:
        """Say why a URL is none that a record may be about."""

    def visit_flaw(self, body: bytes, epoch: int, at_ms: int) -> str:
        """Say why a body is no visit of this version."""

    def domain_of(self, url: str) -> str:
        """Return the registrable domain of a URL; raises ValueError where it is none."""


class Flaw(NamedTuple):
    """The flaw of a record, and who is to blame.

    `reason`: what is wrong, "" where nothing is.
    `is_authors`: its author wrote and signed it so.
    `is_denied`: the strategy takes it back.

    Where neither holds, the peer that brought it lies."""

    reason: str
    is_authors: bool = False
    is_denied: bool = False


class RecordCheck:
    """Judges records and drafts by the rules of one node."""

    def __init__(self, rules: BodyRules, places: SiteShards | None = None, denial: RecordDenial | None = None) -> None:
        """Where a record lies elsewhere than this node would place it, its site's record is read soon; without
        `places`, no site is spread. Without `denial`, nothing is taken back."""
        self._rules, self._places, self._denial = rules, places, denial or RecordDenial()
        self.refusals = RefusalCounts()  # of records that peers brought and that say what none may

    @property
    def places(self) -> SiteShards:
        """Where records live, as the check was told; it has to be told."""
        assert self._places is not None
        return self._places

    def flaws(self, records: Sequence[Record]) -> list[Flaw]:
        """Say what is wrong with each record. A signature is checked once per package root."""
        forged = proof_flaws(records)
        return [self._judge(record, forgery) for record, forgery in zip(records, forged, strict=True)]

    def _judge(self, record: Record, forgery: str) -> Flaw:
        if reason := forgery or mixed_up(record):
            return Flaw(reason)
        if reason := self._denial.reason(record):
            return Flaw(reason, is_denied=True)
        reason = self.said_flaw(record) or _signed_elsewhere(record) or self._displaced(record)
        return Flaw(reason, is_authors=bool(reason))

    def is_taken_back(self, draft: Draft) -> bool:
        """Tell whether nobody would keep a draft, because the strategy denies its page."""
        return bool(self._denial.page_reason(draft))

    def said_flaw(self, record: Record) -> str:
        """Say why a record must not be kept, or shown, whoever signed it; "" where it may. Its digests are those of
        what it holds (`mixed_up`)."""
        if self._rules.sound.has(record):
            return ""
        epoch, at_ms, _ = record.version
        has_content = record.content_digest != NOTHING
        size = len(record.body) + len(record.content or b"")
        flaw = self._flaw(record, epoch, at_ms, has_content=has_content) or _too_big(size)
        if not flaw:
            self._rules.sound.add(record)
        return flaw

    def remember(self, records: Iterable[Record]) -> None:
        """Take note that records say nothing wrong, since the drafts of which they were made did not."""
        for record in records:
            self._rules.sound.add(record)

    def refusal(self, draft: Draft) -> str:
        """Say why nobody would keep a draft, "" where others may."""
        return self.draft_flaw(draft) or self._denial.page_reason(draft)

    def draft_flaw(self, draft: Draft) -> str:
        """Say why a draft must not be written, "" where it may."""
        if not (0 <= draft.epoch < MAX_EPOCH and 0 <= draft.at_ms < MAX_AT_MS and 0 <= draft.expires_day < 1 << 32):
            return f"epoch {draft.epoch}, at_ms {draft.at_ms} or expires_day {draft.expires_day} is out of range"
        flaw = self._flaw(draft, draft.epoch, draft.at_ms, has_content=bool(draft.content))
        return flaw or _too_big(len(draft.body) + len(draft.content))

    def _flaw(self, record: Record | Draft, epoch: int, at_ms: int, *, has_content: bool) -> str:
        """Judge what a body says. It starts with its URL, from which id and key follow, or a liar could put a page's
        next version elsewhere."""
        try:
            if record.kind == Kind.DOCUMENT:
                document = decode_document(record.body)
                flaw, url = document_flaw(document, at_ms / 1000, has_content=has_content), document.url
                if bool(document.origin) == bool(epoch):
                    flaw = "an import names where it was taken from, and a fetched page nothing"
            else:
                flaw, url = "", url_in(record.body)
            id = record.id
            if record.kind == Kind.FORMER:
                if isinstance(record, Draft):
                    return "a former version is filed, not written"
                flaw, id = former_flaw(record, has_content=has_content), page_in(record).id
            if wrong := flaw or _elsewhere(url, id, record.key) or self._rules.url_flaw(url):
                return wrong
            if record.kind in (Kind.VISIT, Kind.HOST) and has_content:
                return f"a {record.kind.name} has no content"
            if record.kind == Kind.VISIT:
                return self._rules.visit_flaw(record.body, epoch, at_ms)
            return self._host_flaw(record, epoch, at_ms) if record.kind == Kind.HOST else ""
        except (ValueError, RecursionError) as error:  # no URL, no UTF-8, a host that urlsplit refuses
            return f"body is no {record.kind.name}: {error}"

    def _host_flaw(self, record: Record | Draft, epoch: int, at_ms: int) -> str:
        if flaw := host_flaw(record.body, record.key, at_ms / 1000):
            return flaw
        if not epoch:
            return "a host record is written under a lease, and this one names none"
        targets = (alias.target for alias in decode_host(record.body).aliases)
        return next(filter(None, map(self._rules.url_flaw, targets)), "")

    def _displaced(self, r: Record) -> str:
        """Return why a record's key is wrong, "" where it may be right. The peer that brings it may have newer, or
        older, news about the number of places of its site. So the record is accepted, and moved once its place is known
        here (shard_mover.py). A host's own record never moves."""
        if r.kind == Kind.HOST or r.key == placement_key(url := url_of(r)):
            return ""
        if self._places is None:
            return "key is none that the strategy gives its URL"
        self._places.doubt(url, r.key)
        return ""


class RefusalCounts:
    """Counts records that were refused for what they say, by who signed them and by who brought them."""

    def __init__(self) -> None:
        self.total = 0
        self._authors: OrderedDict[bytes, int] = OrderedDict()
        self._peers: OrderedDict[bytes, int] = OrderedDict()

    def count(self, author: bytes, peer: bytes) -> None:
        """Count one record of an author (public key) that a peer (node id) brought."""
        self.total += 1
        for counts, name in ((self._authors, author), (self._peers, peer)):
            counts[name] = counts.pop(name, 0) + 1
            if len(counts) > MAX_COUNTED:
                counts.popitem(last=False)

    @property
    def authors(self) -> Counter[bytes]:
        """The counts by public key of the author."""
        return Counter(self._authors)

    @property
    def peers(self) -> Counter[bytes]:
        """The counts by node id of the peer."""
        return Counter(self._peers)


def mixed_up(record: Record) -> str:
    """Say why a record's digests are not those of what it holds, "" where they are."""
    if record.content is not None and sha256(record.content).digest() != record.content_digest:
        return "content does not fit its digest"
    fits = digest_of(record.body, record.content_digest) == record.version.digest
    return "" if fits else "body and content do not fit the version's digest"


def _signed_elsewhere(record: Record) -> str:
    """Why the key that its author signed is none of its site's, "" where it is one."""
    key, is_host = record.proof.key, record.kind == Kind.HOST
    fits = not key or (not is_host and key != record.key and depth_of(url_of(record), key) >= 0)
    return "" if fits else "the key that was signed is none of its site's places"


def _too_big(size: int) -> str:
    return f"{size} bytes, {MAX_RECORD_BYTES} allowed" if size > MAX_RECORD_BYTES else ""


def _elsewhere(url: str, id: DocumentId, key: Key) -> str:
    if len(url) > MAX_URL_CHARS:
        return f"a URL of {len(url)} characters, {MAX_URL_CHARS} allowed"
    if document_id(url) != id:
        return "id is not that of its URL"
    return "" if depth_of(url, key) >= 0 else "key is not that of its URL"
