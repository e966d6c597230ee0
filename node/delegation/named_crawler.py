"""Says which member a rule of the strategy names as the crawler of a URL, and why that member does not fetch it.

A name that cannot work stops nothing: the holder of the URL's slot fetches itself, and says why.
"""

import asyncio
from collections import OrderedDict

from crawl import hashes_cover
from dht import BadMessage, NodeId, Overlay, PeerTimeout, View, site_of
from node.crawling.fetch_rules import FetchRules

LOST_REST_S = 60.0  # for which a member is not asked for a site again after an order to it was lost
REMEMBERED = 1024  # sites with a named crawler of which the last order came to nothing


class NamedCrawlers:
    """Knows the members that rules name, and how the last order for each site ended."""

    def __init__(self, overlay: Overlay, rules: FetchRules) -> None:
        self._overlay, self._rules = overlay, rules
        self._failed: OrderedDict[tuple[NodeId, str], tuple[float, str]] = OrderedDict()  # (rests until, why)

    def find(self, url: str) -> NodeId | None:
        """Return the member that a rule names for a canonical URL, where it can be asked now."""
        peer = self._rules.decide(url).preferred
        return None if peer is None or self._obstacle(peer, url) else peer

    def why_not(self, url: str) -> str:
        """Say why the node that a rule names does not fetch a URL; "" where it does, or no rule names any."""
        decision = self._rules.decide(url)
        peer = decision.preferred
        if peer is None or peer == self._overlay.view.node_id:
            return ""
        reason = self._obstacle(peer, url) or self._failed.get((peer, site_of(url)), (0.0, ""))[1]
        return reason and f"node {peer.hex()[:12]}, which rule {decision.rule} names, {reason}"

    def note_carried(self, peer: NodeId, url: str) -> None:
        """Remember that a peer carried out an order for a URL."""
        if self._failed:
            self._failed.pop((peer, site_of(url)), None)

    def note_failed(self, peer: NodeId, url: str, error: Exception) -> None:
        """Remember why an order for a URL came to nothing. A peer that is silent is left alone for LOST_REST_S."""
        rest_s = LOST_REST_S if isinstance(error, PeerTimeout) else 0.0
        why = error.reason if isinstance(error, BadMessage) else str(error)
        self._failed[peer, site_of(url)] = _now() + rest_s, f"did not carry out the last order: {why}"
        if len(self._failed) > REMEMBERED:
            self._failed.popitem(last=False)

    def _obstacle(self, peer: NodeId, url: str) -> str:
        """Say why a named peer is not asked to fetch a URL, "" where it is."""
        view = self._overlay.view
        if reason := absence(view, peer):
            return reason
        if hashes_cover(view.peers.refuses(peer), url):
            return "belongs to an operator who refuses this host"
        until, reason = self._failed.get((peer, site_of(url)), (0.0, ""))
        return reason if until > _now() else ""


def absence(view: View, peer: NodeId) -> str:
    """Say why nothing can be ordered from a node: it is no member or silent; "" where it is there."""
    if peer not in view.members():
        return "is not a member of this network"
    return "" if view.is_live(peer) or peer == view.node_id else "does not answer at present"


def _now() -> float:
    return asyncio.get_running_loop().time()
