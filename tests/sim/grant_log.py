"""Notes which members signed that a writer holds a slot, and when most of the slot's owners had, judged from outside.

Pure: goes by what came to the writers, the signed grants themselves, and by no node's word of what it endorses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dht import NodeId, SignedGrant, grant_flaw

NEVER = float("inf")


class Version(NamedTuple):
    """Says who wrote a version of a page where and when, as its record does."""

    author: NodeId
    key: bytes
    epoch: int
    at_ms: int


@dataclass(slots=True)
class GrantLog:
    """Remembers every grant that a node of a world got, and since when most owners of its slot have signed it."""

    _since: dict[tuple[bytes, int], dict[SignedGrant, float]] = field(default_factory=dict)  # by holder and epoch

    def note(self, signed: SignedGrant, owners: Sequence[NodeId], now: float) -> None:
        """Take note that a writer has a grant of a slot that has these owners, the sleeping ones among them."""
        since = self._since.setdefault((signed.grant.holder, signed.grant.epoch), {})
        if signed not in since:
            assert not (flaw := grant_flaw(signed, signed.grant.network)), flaw
        if now < since.get(signed, NEVER):
            since[signed] = now if 2 * len(signed.signers & {*owners}) > len(owners) else NEVER

    def strong_since(self, version: Version) -> float:
        """Return when most owners had first signed a grant that covers a version; infinite where they never had."""
        author, key, epoch, at_ms = version
        grants = self._since.get((author, epoch), {})
        return min((since for g, since in grants.items() if g.grant.covers(key, epoch, at_ms)), default=NEVER)
