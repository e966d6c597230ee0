"""A node is lost while it expects others in its network and has never met one: it knows nothing of what is there.

Pure: `now` is steady seconds. A network file that names first contacts says that there are others; whoever met them in
an earlier run, keeps records of theirs or began the network itself is not lost. A bare bootstrap node that answers
for long enough and names nobody shows that there is nobody yet: members try its address every minute.
"""

BARE_S = 90.0
LOST = (
    "this node has met nobody of its network: none of the addresses in its network file answers. Until one does it "
    "keeps, serves and crawls nothing. Look after its line, its firewall and the network file; if it is the first node "
    "of a new network, stop it and run `dse-node network begin`"
)


class FirstMeeting:
    """Remembers whether this node has met its network."""

    def __init__(self) -> None:
        self.is_lost = False
        self._bare_since: float | None = None

    def expect(self) -> None:
        """Note that there are others, and that this node has met none of them before."""
        self.is_lost = True

    def count(self, now: float, *, members: int, bare: int) -> None:
        """Note how many other members, and bare bootstrap nodes, live now."""
        if members:
            self.is_lost = False
        elif not bare:
            self._bare_since = None
        elif self._bare_since is None:
            self._bare_since = now
        elif now - self._bare_since >= BARE_S:
            self.is_lost = False
