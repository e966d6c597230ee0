"""Which found URLs were handed to their owners already: most links of a site repeat on each of its pages.

Pure: bounded memory, the longest unseen forgotten first; what is forgotten is only sent once more.
"""

from collections import OrderedDict

from dht import DocumentId, document_id


class Sent:
    """Ids of URLs with the depth that they were sent with; a deeper scope is news."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._depths: OrderedDict[DocumentId, int] = OrderedDict()

    def is_news(self, url: str, depth: int) -> bool:
        """True where the owners do not yet know from us that the URL may be followed so deep."""
        id = document_id(url)
        known = self._depths.get(id)
        if known is None:
            return True
        self._depths.move_to_end(id)
        return depth > known

    def add(self, url: str, depth: int) -> None:
        """The owners have acknowledged the URL."""
        id = document_id(url)
        self._depths[id] = max(depth, self._depths.get(id, -1))
        self._depths.move_to_end(id)
        if len(self._depths) > self._limit:
            self._depths.popitem(last=False)
