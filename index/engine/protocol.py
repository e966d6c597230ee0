"""The protocol of an engine: it finds candidates and counts, nothing else. Scores come from forward records.

Pure: values and a protocol. An engine knows documents by number, which the forward table gives out once each. One
thread writes (`add`, `remove`, `commit`, `clear`, `recover`), others read; readers see the last commit. All raise
IndexCorrupt, and those who write MachineRefuses, too.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from index.engine.slot_counts import SlotCounts
from index.query.parser import Query, QueryNode
from index.text.field_terms import FieldTerms
from index.text.site_host import HOST_BYTES

FACETS = ("site", "language", "year", "type")  # by which matches are counted, with the names of their filters
MAX_FACETS = 20  # names of each
MAX_LANGUAGE_CHARS = 16
FOREIGN = 1 << 8  # above all stem classes
MAX_HOST_CHARS = 261  # a name of 255 characters and a port


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One document as an engine indexes it. `hosts`: every name that `site:` may match it by, see `host_names`."""

    number: int
    cell: int  # the first 16 bits of its key, of which a slot is the first few
    hosts: tuple[str, ...]
    language: str
    fields: FieldTerms
    words: Sequence[str] = ()  # the distinct words of its title, headings and body as they are written, see `surfaces`
    tags: Sequence[str] = ()  # what filters ask for, see `tags`; none holds a space
    title: str = ""  # folded, as suggestions offer it
    is_front: bool = False  # whether it is its host's front page
    host: bytes = bytes(HOST_BYTES)  # the digest of its host

    @property
    def facets(self) -> tuple[str, ...]:
        """Its name in each of FACETS, "" where it has none."""
        host = self.hosts[0] if self.hosts and len(self.hosts[0]) <= MAX_HOST_CHARS else ""
        year = next((tag[5:] for tag in self.tags if len(tag) == 9 and tag.startswith("date:")), "")
        kind = next((tag[5:] for tag in self.tags if tag.startswith("type:")), "")
        return host, self.language if len(self.language) <= MAX_LANGUAGE_CHARS else "", year, kind


@dataclass(frozen=True, slots=True)
class Scale:
    """The network's numbers that an engine needs to order candidates: what each leaf weighs, mean weighted length.
    `least`: above 0, documents that no leaf scores need not be found. `needed`: documents whose text does not match all
    of these need not be found either, whatever their boilerplate holds. `is_loose`: where leaves are demanded,
    documents may be found, too, that hold words of a phrase and no leaf."""

    weights: tuple[float, ...]
    average: float
    least: float = 0.0
    needed: tuple[QueryNode, ...] = ()
    is_loose: bool = False


class CandidateColumns(Protocol):
    """The engine's values of candidates before their records are read, for a part of their list."""

    def hosts(self, part: slice) -> Sequence[int]:
        """Return the digests of their hosts, as big-endian numbers."""

    def traits(self, part: slice) -> Sequence[int]:
        """Return the stem class of each, and FOREIGN with it where `is_foreign` would hold of a Latin query."""

    def sketches(self, column: int, part: slice) -> Sequence[int]:
        """Return one column of their sketches, see `sketch`."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Matching documents, the most promising first. No match that was left out has a relevance above `bound`."""

    numbers: Sequence[int]
    bounds: Sequence[float]  # one for each number, descending: its relevance is not above that
    complete: bool  # nothing was left out
    bound: float  # 0.0 where complete; infinite where the engine cannot tell
    columns: CandidateColumns | None = None  # where the engine keeps any


Facets = tuple[tuple[tuple[str, int], ...], ...]  # for each of FACETS its commonest names, with their numbers


class Engine(Protocol):
    """An inverted index of terms, positions, hosts, languages and slots."""

    def add(self, entries: Iterable[IndexEntry]) -> None:
        """Index documents under numbers that are new or were removed before. Each is read once, the next after it."""

    def remove(self, numbers: Collection[int]) -> None:
        """Forget documents; unknown numbers change nothing."""

    def remove_from(self, number: int) -> None:
        """Forget this number and all above it: what a crash between two commits left behind."""

    def commit(self) -> None:
        """Make all of it durable and visible."""

    def recover(self) -> None:
        """Forget what was not committed, and be ready to write again, after something failed."""

    def clear(self) -> None:
        """Forget everything, and commit."""

    def check_files(self) -> Iterator[None]:
        """Read all files, a part at a time, and raise IndexCorrupt where one is not what was written."""

    def counts(self, node: QueryNode, slot_bits: int) -> SlotCounts:
        """Count exactly how many documents match, by slot."""

    def facets(self, node: QueryNode, slots: frozenset[int], slot_bits: int) -> Facets:
        """Count exactly how many documents of these slots match, by their names in each of FACETS: the MAX_FACETS
        commonest."""

    def host_counts(
        self, node: QueryNode, hosts: Sequence[bytes], slots: frozenset[int], slot_bits: int
    ) -> Sequence[int]:
        """Count exactly how many documents of these slots match, for each of some hosts, named by their digests."""

    def candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        """Return up to `limit` documents of these slots that match the query's root."""

    def word_counts(self, word: str, slot_bits: int) -> SlotCounts:
        """Count exactly in how many documents a word is written in just this form, by slot as `counts` does."""

    def word_count(self, word: str) -> int:
        """Tell about how many documents hold a word in this form; those deleted lately may still count."""

    def words_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        """Return the `limit` commonest words that begin so, each with its `word_count`, the commonest first."""

    def terms_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        """Return the `limit` commonest terms that begin so, each with about how many documents hold it, the commonest
        first."""

    def words_together(self, words: Sequence[str]) -> int:
        """Count exactly how many documents hold all of some words, each in this form."""

    def titles_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        """Return the `limit` commonest titles that begin so, each with about how many documents bear it: one at least
        does."""

    def close(self) -> None:
        """Close the files; nothing is called after it."""


def commonest(names: Iterable[Sequence[str]]) -> Facets:
    """Count documents' names in each of FACETS, and return the commonest; for engines that count them one by one."""
    counted = [Counter(filter(None, column)) for column in zip(*names, strict=True)] or [Counter[str]() for _ in FACETS]
    return tuple(tuple(sorted(each.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_FACETS]) for each in counted)


def host_names(url: str) -> tuple[str, ...]:
    """List the host of a URL with its port, and each host that it is at or below: what `site:` is compared with."""
    try:
        host = (parts := urlsplit(url)).hostname or ""
    except ValueError:  # a stranger signed it; it is at no host then
        return ()
    above = [f"[{host}]"] if ":" in host else _suffixes(host)
    return tuple(dict.fromkeys(name for name in (parts.netloc, *above) if name))


def _suffixes(host: str) -> Iterator[str]:
    """The host and every domain above it; only itself where it is longer than DNS allows."""
    while host:
        yield host
        host = host.partition(".")[2] if len(host) <= MAX_HOST_CHARS else ""
