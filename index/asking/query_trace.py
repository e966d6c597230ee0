"""Says where the time of a query goes: a tree of timed spans with numbers and ids of peers, and no word of the query.

Pure: a protocol, and the tracer that keeps nothing.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from dht import NodeId


class Span(Protocol):
    """One part of a query, from its beginning to its end; parts that begin meanwhile belong to it."""

    def say(self, **figures: int) -> None:
        """Note figures of this part, by name; texts are refused by their type."""


class Tracer(Protocol):
    """Makes spans. `query` begins a tree, `part` a branch of the tree that is being made, else nothing."""

    def query(self) -> AbstractContextManager[Span]: ...

    def part(self, name: str, peer: NodeId | None = None, **figures: int) -> AbstractContextManager[Span]: ...


class _Nothing:
    def say(self, **figures: int) -> None: ...


class Untraced:
    """Keeps nothing, at the cost of a call."""

    def __init__(self) -> None:
        self._nothing = nullcontext(_Nothing())

    def query(self) -> AbstractContextManager[Span]:
        """Return what does nothing."""
        return self._nothing

    def part(self, name: str, peer: NodeId | None = None, **figures: int) -> AbstractContextManager[Span]:
        """Return what does nothing."""
        return self._nothing


untraced = Untraced()
