"""Two reasons for which a node does nothing in its network's name: it has a twin, or it is lost.

Pure: `now` is steady seconds.

- A twin is another machine that runs with this node's identity: a copied disk, or an old image put back beside it. Each
  of two twins hears heartbeats of its own that it never signed. It signs later ones, which the other hears, and so on.
  Peers repeat the heartbeats of an earlier run of this node for a few seconds at most.
- A node is lost while it expects others in its network and has never met one. A network file that names first contacts
  says that there are others. A node is not lost that met them in an earlier run, keeps records of theirs or began the
  network itself. A bare bootstrap node that answers for long enough and names nobody shows that there is nobody yet:
  members try its address every minute.
"""

from collections import deque

from dht.wire.contact import Endpoint

TIMES, AT_LEAST_S = 4, 5.0  # so many heartbeats, over so long: peers agree on the last one of an earlier run by then
WITHIN_S = 60.0


class TwinWatch:
    """Remembers the last heartbeats that bear this node's key and are not its own."""

    def __init__(self) -> None:
        self._heard: deque[tuple[float, tuple[Endpoint, ...]]] = deque(maxlen=TIMES)

    def heard(self, endpoints: tuple[Endpoint, ...], now: float) -> None:
        """Note a heartbeat that another run of this node signed after the last one of this run."""
        if self._heard and now - self._heard[-1][0] > WITHIN_S:
            self._heard.clear()
        if len(self._heard) < TIMES - 1 or now - self._heard[0][0] >= AT_LEAST_S:
            self._heard.append((now, endpoints))

    def is_there(self, now: float) -> bool:
        """Tell whether a twin runs: then neither may vote or crawl, since peers take both for one."""
        return len(self._heard) == TIMES and now - self._heard[-1][0] <= WITHIN_S

    def warnings(self, now: float) -> tuple[str, ...]:
        """Return a sentence for the operator where a twin runs."""
        if not self.is_there(now):
            return ()
        where = ", ".join(f"{e.host} port {e.udp_port}" for e in self._heard[-1][1]) or "an unknown address"
        return (
            f"another machine runs with this node's identity, at {where}: neither of them votes or crawls. Stop one, "
            "and make a node of its own there with `dse-node init`",
        )


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
