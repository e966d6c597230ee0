"""Holds drafts of the next strategy while a publisher looks at them."""

from collections.abc import Sequence
from dataclasses import dataclass

from dht import SignedStrategy, Strategy
from node.api.body import Json

MAX_KEPT = 8  # drafts at once; the oldest makes room


@dataclass(frozen=True, slots=True)
class KeptDraft:
    """A draft with the signatures that it has so far. `effect`: what it moves, as it was previewed at `seen_at`."""

    signed: SignedStrategy
    strategy: Strategy
    effect: Json
    seen_at: float  # Unix seconds

    @property
    def counts(self) -> tuple[int, int]:
        """Return how many present members stay and how many are put out."""
        return len(self.effect.get("stay", ())), len(self.effect.get("lost", ()))

    def lacks(self, before: Strategy) -> int:
        """Return how many signatures of the publishers of the version `before` are missing."""
        keys = {signature.key for signature in self.signed.signatures}
        return max(0, before.threshold - len(keys & set(before.publishers)))


class KeptDrafts:
    """Drafts by digest, in memory alone."""

    def __init__(self) -> None:
        self._drafts: dict[str, KeptDraft] = {}

    def keep(self, draft: KeptDraft) -> KeptDraft:
        """Keep a draft, in place of one of the same digest, and return it."""
        self._drafts.pop(draft.signed.digest, None)
        while len(self._drafts) >= MAX_KEPT:
            del self._drafts[next(iter(self._drafts))]
        self._drafts[draft.signed.digest] = draft
        return draft

    def find(self, digest: str) -> KeptDraft | None:
        """Return a draft, None where it is not here any more."""
        return self._drafts.get(digest)

    def after(self, version: int) -> Sequence[KeptDraft]:
        """Return the drafts of later versions than this one, newest first; forget the others."""
        self._drafts = {digest: kept for digest, kept in self._drafts.items() if kept.strategy.version > version}
        return tuple(reversed(self._drafts.values()))
