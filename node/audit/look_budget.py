"""The budget of second looks: a share of the node's own fetches.

Pure: counts in, choices out. A page is paid for whole: the first look, and the one that may have to confirm it.
"""

LOOK = 2.0  # fetches that a look may take: robots.txt, and the page
PAGE = 2 * LOOK
BURST = 8.0  # fetches saved up at most


class LookBudget:
    """Counts how many fetches this node may make for second looks."""

    def __init__(self) -> None:
        self._credit, self._fetched = 0.0, 0

    def earn(self, fetched: int, share: float) -> None:
        """Take note of all fetches that this node has made for itself so far."""
        self._credit = min(BURST, self._credit + share * max(0, fetched - self._fetched))
        self._fetched = fetched

    def take_page(self) -> bool:
        """Pay for the two looks at a page, where there is so much. `settle` must follow twice."""
        if self._credit < PAGE:
            return False
        self._credit -= PAGE
        return True

    def take_look(self) -> None:
        """Pay for one look that the owner asked for, be it by debt. `settle` must follow."""
        self._credit -= LOOK

    def settle(self, made: int) -> None:
        """Take note that a look took so many fetches, 0 where it was not made."""
        self._credit += LOOK - made
