"""Whose offered terms are taken: those of authors who never offered false ones, and not all of them unread.

Pure but for the secret that it is given. Of an author without a past here all are computed again, later a sample that
nobody can foresee. One false offer is enough: from then on nothing of that author is taken, and what was is computed
anew (`index/shard/index_follower.py`).
"""

from collections import OrderedDict, deque
from collections.abc import Set
from hashlib import blake2b
from typing import NamedTuple

from dht import DocumentId

PAST = 100  # right offers of an author, before most are taken unread
SAMPLED = 0.02  # of the others
REMEMBERED = 512  # authors
KEPT = 64  # false offers to tell of


class FalseTerms(NamedTuple):
    """Tells of terms that an author (public key) signed for a document, and that are not its terms."""

    id: DocumentId
    author: bytes
    proof: bytes


class TermsTrust:
    """Remembers of authors how often they offered the right terms, and who did not."""

    def __init__(self, secret: bytes) -> None:
        """`secret`: 16 bytes or more, by which samples are drawn."""
        self._secret, self._right = secret, OrderedDict[bytes, set[bytes]]()
        self._false = OrderedDict[bytes, None]()
        self.lies = deque[FalseTerms](maxlen=KEPT)  # whoever tells others takes them out

    @property
    def false_authors(self) -> Set[bytes]:
        """Whose offers are not taken."""
        return self._false.keys()

    def is_sampled(self, author: bytes, digest: bytes) -> bool:
        """Tell whether an offer is to be computed again."""
        if len(self._right.get(author, ())) < PAST:
            return True
        drawn = blake2b(author + digest, key=self._secret, digest_size=4).digest()
        return int.from_bytes(drawn, "big") < SAMPLED * (1 << 32)

    def note_right(self, author: bytes, digest: bytes) -> None:
        """Note that an offer was computed again, and right."""
        known = self._right[author] = self._right.pop(author, set())
        if len(known) < PAST:
            known.add(digest)
        _bound(self._right)

    def note_false(self, lie: FalseTerms) -> None:
        """Note that an offer was not what its document gives."""
        if lie.author not in self._false:
            self.lies.append(lie)
        self._right.pop(lie.author, None)
        self._false[lie.author] = None
        _bound(self._false)


def _bound(remembered: OrderedDict) -> None:  # type: ignore[type-arg]
    if len(remembered) > REMEMBERED:
        remembered.popitem(last=False)
