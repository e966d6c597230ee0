"""What an engine must do: find candidates and count, nothing else. Scores come from forward records.

Pure: values and a protocol. An engine knows documents by number, which the forward table gives out once each. One
thread writes (`add`, `remove`, `commit`, `clear`), one other reads; readers see the last commit.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from index.query.parser import Query, QueryNode
from index.text.forward_index import FieldTerms

MAX_HOST_CHARS = 261  # a name of 255 characters and a port


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One document as an engine indexes it. `hosts`: every name that `site:` may match it by, see `host_names`."""

    number: int
    cell: int  # the first 16 bits of its key, of which a slot is the first few
    hosts: tuple[str, ...]
    language: str
    fields: FieldTerms


@dataclass(frozen=True, slots=True)
class Scale:
    """The network's numbers that an engine needs to order candidates: idf of each leaf, mean weighted length."""

    idf: tuple[float, ...]
    average: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """Matching documents, the most promising first. No match that was left out has a bm25 above `bound`."""

    numbers: Sequence[int]
    complete: bool  # nothing was left out
    bound: float  # 0.0 where complete; infinite where the engine cannot tell


class Engine(Protocol):
    """An inverted index of terms, positions, hosts, languages and slots."""

    def add(self, entries: Sequence[IndexEntry]) -> None:
        """Index documents under numbers that are new or were removed before."""

    def remove(self, numbers: Collection[int]) -> None:
        """Forget documents; unknown numbers change nothing."""

    def remove_from(self, number: int) -> None:
        """Forget this number and all above it: what a crash between two commits left behind."""

    def commit(self) -> None:
        """Make all of it durable and visible."""

    def clear(self) -> None:
        """Forget everything, and commit."""

    def counts(self, node: QueryNode, slot_bits: int) -> Mapping[int, int]:
        """Count exactly how many documents match, by slot; slots without a match are left out."""

    def candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        """Return up to `limit` documents of these slots that match."""

    def close(self) -> None:
        """Close the files; nothing is called after it."""


def host_names(url: str) -> tuple[str, ...]:
    """List every host that this URL is at or below, without and with its port: what `site:` is compared with."""
    try:
        parts = urlsplit(url)
    except ValueError:  # a stranger signed it; it is at no host then
        return ()
    hosts = [parts.netloc] if ":" in (parts.hostname or ":") else [parts.netloc, parts.hostname or ""]
    return tuple(dict.fromkeys(name for host in hosts for name in _suffixes(host) if name))


def _suffixes(host: str) -> Iterator[str]:
    """The host and every domain above it; only itself where it is longer than DNS allows."""
    while host:
        yield host
        host = host.partition(".")[2] if len(host) <= MAX_HOST_CHARS else ""
