"""Who may say where a site lies: the holder of its home slot's lease, as far as this node can see that.

A host record moves a site's pages, and depths are never taken back; so a depth that is news is taken only while its
author holds the lease of the home slot, and only as deep as so many nodes may need. A voter knows whom it promised the
lease; others go by the one live owner that announces it. Whoever holds the lease next
signs the record anew (`node/sites/site_sharder.py`). Aliases are hints, which each node tests itself: records that
change nothing but these may come from owners whoever signed them, from others only as the holder's.

Pure but for the view that it is given.
"""

from dht import Overlay, SiteShards, node_id_of, site_of, slot_of
from store.record.host_record import decode_host
from store.record.record import Kind, Record

PLACES_A_NODE = 4  # of one site, at most: each has a quarter of what a node keeps (`dht/ownership/shard_policy.py`)


class HostWriters:
    """Judges host records by their authors' leases."""

    def __init__(self, overlay: Overlay, places: SiteShards) -> None:
        self._overlay, self._places = overlay, places
        self.ignored = 0  # records that were not taken, so far

    def objection(self, record: Record, *, by_owner: bool) -> str:
        """Say why a record is not taken, "" where it may be. `by_owner`: an owner of its slot brings it, who repairs or
        hands over what others wrote. What is no host record is judged elsewhere."""
        if record.kind != Kind.HOST:
            return ""
        try:
            host = decode_host(record.body)
            known = self._places.hosts.depths(site_of(host.url))[0]
        except ValueError:
            return ""  # it is none, which `record_check.py` says
        reason = ""
        if host.depth > known and 1 << host.depth > PLACES_A_NODE * len(self._overlay.view.members()):
            reason = f"a site in {1 << host.depth} places is more than the network needs"
        elif not ((by_owner and host.depth == known) or self._is_holders(record)):
            reason = "its author does not hold the lease of the site's home slot"
        self.ignored += bool(reason)
        return reason

    def _is_holders(self, record: Record) -> bool:
        view, author = self._overlay.view, node_id_of(record.proof.author)
        slot = slot_of(record.key, view.strategy.slot_bits)
        if (holder := view.votes.promised(slot)) is not None:
            return author in (holder, view.node_id)
        claims = tuple(view.announced(slot))  # anybody may claim to hold it, so one claim beside another counts nothing
        return author == view.node_id or (claims == (author,) and author in view.live_owners(slot))
