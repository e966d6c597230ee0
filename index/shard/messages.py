"""Messages between nodes that answer a query: two rounds, statistics then the best documents.

Pure: values with bounds, no behaviour. The query travels as text and both sides parse it with the same parser, so its
leaves have the same order. Analyzer, ranking and slot_bits name the rules of the asker.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from dht import Message
from index.engine.protocol import FACETS, MAX_FACETS, MAX_HOST_CHARS
from index.query.alternatives import MAX_LIKELY, MAX_PROBE_CHARS, MAX_PROBES, MAX_UNSURE
from index.query.patterns import MAX_LISTED, MAX_PATTERNS
from index.query.scoring import ScoreInputs

MAX_SLOTS = 1 << 16
MAX_K = 4096
MAX_COUNT = 1 << 48
MAX_NAMED = 8  # documents of one dispute
MAX_HOSTS = 8  # whose matches one answer counts

Slots = Annotated[tuple[Annotated[int, Meta(ge=0, lt=MAX_SLOTS)], ...], Meta(max_length=MAX_SLOTS)]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Counts4 = tuple[Count, Count, Count, Count]
PerSlot = Annotated[tuple[Count, ...], Meta(max_length=MAX_SLOTS)]
PerLeaf = Annotated[tuple[Count, ...], Meta(max_length=64)]
Spelling = Annotated[str, Meta(min_length=1, max_length=32)]
WrittenPattern = Annotated[str, Meta(min_length=2, max_length=33)]
WordCounts = Annotated[tuple[tuple[Spelling, Count], ...], Meta(max_length=MAX_LISTED)]
Probe = Annotated[str, Meta(min_length=1, max_length=MAX_PROBE_CHARS)]
Probes = Annotated[tuple[Probe, ...], Meta(max_length=MAX_PROBES)]
Proposals = Annotated[tuple[Probe, ...], Meta(max_length=MAX_LIKELY)]
PerCounted = Annotated[tuple[Count, ...], Meta(max_length=64 + MAX_PROBES)]
Words = Annotated[str, Meta(max_length=1024)]
Name = Annotated[str, Meta(max_length=255)]
Id = Annotated[bytes, Meta(min_length=20, max_length=20)]
Digest = Annotated[bytes, Meta(min_length=16, max_length=16)]
FacetName = Annotated[str, Meta(min_length=1, max_length=MAX_HOST_CHARS)]
FacetCounts = Annotated[tuple[tuple[FacetName, Count], ...], Meta(max_length=MAX_FACETS)]
HostDigest = Annotated[bytes, Meta(min_length=8, max_length=8)]
Hash = Annotated[bytes, Meta(min_length=32, max_length=32)]


class Agreement(msgspec.Struct, frozen=True, array_like=True):
    """Says how far the answerer's copies of the answered slots agree with those of others.

    `strategy`: the version in force there, 0 where nothing is reported.
    `owners`: digest of the owners of these slots, as the answerer sees them.
    `level`: for each slot a bit for each sticky owner, the first the lowest. It is set where the answerer's copy was
    equal to that owner's within the last 30 s, but for recent writes. The answerer's own bit reports that its index
    keeps up.
    `unlike`: slots of which another live copy has differed for longer.
    `vanished`: half of all members are gone.
    """

    strategy: Annotated[int, Meta(ge=0, lt=1 << 31)] = 0
    owners: Annotated[bytes, Meta(max_length=8)] = b""
    level: Annotated[tuple[Annotated[int, Meta(ge=0, lt=1 << 16)], ...], Meta(max_length=MAX_SLOTS)] = ()
    unlike: Slots = ()
    vanished: bool = False


class AskStatistics(Message, frozen=True, array_like=True):
    """Asks to count the documents of these slots, and those that hold each leaf of the query.

    `probes`: words or phrases whose documents are counted too. `unsure`: words of the query for which the answer may
    propose others. `verbatim`: whether the query is parsed as it is written.
    `patterns`: those of which the commonest words are listed, see `patterns`.
    `from_store`: whether it is asked of a node that stores these slots and does not index them: it reads some of their
    documents, and says what all hold by these.
    """

    in_packets = True

    analyzer: int
    slot_bits: Annotated[int, Meta(ge=0, le=16)]
    slots: Slots
    query: Words
    language: Name = ""
    site: Name = ""
    probes: Probes = ()
    patterns: Annotated[tuple[WrittenPattern, ...], Meta(max_length=MAX_PATTERNS)] = ()
    from_store: bool = False
    unsure: Annotated[tuple[Spelling, ...], Meta(max_length=MAX_UNSURE)] = ()
    verbatim: bool = False


class StatisticsAnswer(Message, frozen=True, array_like=True):
    """Brings statistics by slot, for the `slots` that the peer answers for, ascending.

    All else has one entry for each of them. `lengths`: sums by field. `df`: for each leaf and then for each probe, the
    documents that hold it, by slot. `words`: for each pattern its commonest words, with how many documents of all these
    slots hold each. `likely`: for each unsure word what it may have been meant to be, the likeliest first.
    """

    slots: Slots
    documents: PerSlot
    lengths: Annotated[tuple[Counts4, ...], Meta(max_length=MAX_SLOTS)]
    fingerprints: Annotated[tuple[Hash, ...], Meta(max_length=MAX_SLOTS)]
    df: Annotated[tuple[PerSlot, ...], Meta(max_length=64 + MAX_PROBES)]
    agreement: Agreement = Agreement()
    words: Annotated[tuple[WordCounts, ...], Meta(max_length=MAX_PATTERNS)] = ()
    likely: Annotated[tuple[Proposals, ...], Meta(max_length=MAX_UNSURE)] = ()


class SlotSums(msgspec.Struct, frozen=True, array_like=True):
    """Statistics of all slots of an answer together. `tag`: equal where the copies of these slots are."""

    documents: Count
    lengths: Counts4
    df: PerCounted
    tag: Annotated[bytes, Meta(min_length=8, max_length=8)]


class AskBest(Message, frozen=True, array_like=True):
    """Asks for the best `k` documents of these slots by the given statistics, from up to `depth` candidates.

    `floor`: nothing that scores less is of use any more. `per_host`: nor are more than so many of one host; 0: any
    number. `facets`: whether matches are to be counted by site, language, year and type. `by_date`: the best are the
    newest of what is counted; `floor` and `per_host` are 0 then. `named`: where there are any, only these documents are
    asked for, of a node that stores these slots and does not index them. `sums`: whether the answer is to bring the
    statistics of its slots, as `AskStatistics` gives them, those of `probes` among them: the asker has guessed the ones
    above. `bent`: words of the query, each with one that is looked for as well.
    `asker_language`: pages in others are worth a little less, "" unknown.
    """

    in_packets = True

    analyzer: int
    ranking: int
    slot_bits: Annotated[int, Meta(ge=0, le=16)]
    slots: Slots
    query: Words
    documents: Count
    lengths: Counts4
    df: PerLeaf
    k: Annotated[int, Meta(ge=1, le=MAX_K)]
    depth: Annotated[int, Meta(ge=1, le=1 << 20)]
    floor: float = 0.0
    language: Name = ""
    site: Name = ""
    per_host: Annotated[int, Meta(ge=0, le=MAX_K)] = 0
    facets: bool = False
    by_date: bool = False
    named: Annotated[tuple[Id, ...], Meta(max_length=MAX_NAMED)] = ()
    sums: bool = False
    probes: Probes = ()
    bent: Annotated[tuple[tuple[Probe, Probe], ...], Meta(max_length=2 * MAX_PROBES)] = ()
    verbatim: bool = False
    asker_language: Annotated[str, Meta(max_length=8)] = ""


class HitRow(msgspec.Struct, frozen=True, array_like=True):
    """One document with the numbers that its score was computed from.

    `digest`: equal for pages with the same text.
    `signature`: nearly equal for pages with nearly the same text, as their authors report it; empty where there is
    none.
    `host`: equal for pages of one host.
    `day`: the day of its date (`tags.py`), where the question was for the newest.
    `is_front`: whether it is the host's front page.
    `foreign`: 1 where its language is another than the asker's, 2 where that has no Latin letters and the question no
    others, else 0.
    `is_obscure`: whether few other sites link to its site.
    `first_seen`: the day that its content was first known, 0 unknown.
    `title_numbers`: equal for pages whose titles name the same numbers."""

    id: Id
    key: Id
    version: Hash
    digest: Digest
    score: float
    tfs: Annotated[tuple[Counts4, ...], Meta(max_length=64)]
    lengths: Counts4
    closeness: Annotated[int, Meta(ge=0, le=1024)]
    host: HostDigest = bytes(8)
    signature: Annotated[bytes, Meta(max_length=16)] = b""
    day: Annotated[int, Meta(ge=0, lt=1 << 16)] = 0
    is_front: bool = False
    foreign: Annotated[int, Meta(ge=0, le=2)] = 0
    is_obscure: bool = False
    first_seen: Annotated[int, Meta(ge=0, lt=1 << 16)] = 0
    title_numbers: Annotated[int, Meta(ge=0, lt=1 << 16)] = 0

    @property
    def numbers(self) -> ScoreInputs:
        """Return what its score was computed from."""
        return ScoreInputs(self.tfs, self.lengths, self.closeness, self.is_front, self.foreign, self.is_obscure)

    @property
    def place(self) -> tuple[int, float, bytes]:
        """Return where it stands in the order: the newest first, then the best, then by id; the smaller the better."""
        return -self.day, -self.score, self.id


class BestAnswer(Message, frozen=True, array_like=True):
    """Brings the best hits, best first.

    `counts`: the number of all matches, by slot.
    `bound`: no document that is left out scores above it. Exceptions are pages of hosts of which as many are here as
    were asked for; they come later in the order than those.
    `hosts`: of some of these hosts, how many matches they have.
    `facets`: for each of site, language, year and type the commonest names among all matches, with their numbers. A
    name that is missing in a full list may have as many as its last."""

    slots: Slots
    counts: PerSlot
    hits: Annotated[tuple[HitRow, ...], Meta(max_length=MAX_K)]
    complete: bool  # every match was scored, or nothing else is as new as these; the bound is 0.0 then
    bound: float
    agreement: Agreement = Agreement()
    hosts: Annotated[tuple[tuple[HostDigest, Count], ...], Meta(max_length=MAX_HOSTS)] = ()
    facets: Annotated[tuple[FacetCounts, ...], Meta(max_length=len(FACETS))] = ()
    sums: SlotSums | None = None
