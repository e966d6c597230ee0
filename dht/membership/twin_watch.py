"""A twin is another machine that runs with this node's identity: a copied disk, or an old image put back beside it.

Pure: `now` is steady seconds. Each of two twins hears heartbeats of its own that it never signed, and signs later ones,
which the other hears: so they go on and on. What an earlier run of this node left with peers is heard for a few seconds
at most.
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
