"""A search as it is carried out, and a page of its results as it is put together.

Pure: values only.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dht import NodeId
from index.asking.search_outcome import PeerQuery
from index.change_feed import Text
from index.query.scoring import Scored
from index.query.search_rules import SearchRules
from index.results.page_cursor import PageCursor
from index.results.result_picker import PickedHit
from index.shard.corrections import Proposal


@dataclass(frozen=True, slots=True)
class BoundedRequest:
    """A request as it is carried out: parsed, its numbers within bounds; instants are steady seconds."""

    typed: str
    peer_query: PeerQuery
    after: PageCursor | None
    limit: int
    began: float
    deadline: float
    shown_at: float  # when the asker shows what has been found by then; NEVER where all is waited for
    explain: bool
    proposals: Sequence[Proposal] = ()

    @property
    def rules(self) -> SearchRules:
        """By which it is carried out."""
        return self.peer_query.query.rules

    @property
    def shown(self) -> int:
        """How many results earlier pages have shown."""
        return self.after.shown if self.after else 0


@dataclass(frozen=True, slots=True)
class ShownResult:
    """A result. `copies`: documents that say the same, of `similar` in all."""

    text: Text
    scored: Scored
    copies: Sequence[Text] = ()
    similar: int = 0


@dataclass(slots=True)
class AnswerPage:
    """Results so far, and what went wrong on the way."""

    shown: list[ShownResult] = field(default_factory=list)
    last: PickedHit | None = None
    rest: bool = False
    more: Mapping[bytes, int] = field(default_factory=dict)  # matches of the last result's host, by that result's id
    stale: bool = False
    late: bool = False
    is_early: bool = False  # another page of the same search follows, which counts what is wrong
    unsure: bool = False  # a host may have more that stand among these
    liars: set[NodeId] = field(default_factory=set)
    unreadable: Counter[NodeId] = field(default_factory=Counter)
