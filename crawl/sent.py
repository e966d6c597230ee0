"""Which found URLs were handed to their owners already: most links of a site repeat on each of its pages.

Pure: bounded memory, the longest unseen forgotten first; what is forgotten is only sent once more.
"""

from collections import OrderedDict

from dht import DocumentId, document_id


class Sent:
    """Ids of URLs with the reach (visits.py) that they were sent with; a further one is news."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._reaches: OrderedDict[DocumentId, int] = OrderedDict()

    def is_news(self, url: str, reach: int) -> bool:
        """True where the owners do not yet know from us that the URL may be followed so far."""
        id = document_id(url)
        known = self._reaches.get(id)
        if known is None:
            return True
        self._reaches.move_to_end(id)
        return reach > known

    def add(self, url: str, reach: int) -> None:
        """The owners have acknowledged the URL."""
        id = document_id(url)
        self._reaches[id] = max(reach, self._reaches.get(id, -1))
        self._reaches.move_to_end(id)
        if len(self._reaches) > self._limit:
            self._reaches.popitem(last=False)
