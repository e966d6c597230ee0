"""Writes the members that have not answered for a while into the status."""

from typing import Any

import msgspec

from dht import NodeId, OverlayService
from node.views.silence import MAX_NAMED

Json = dict[str, Any]


def silence_json(overlay: OverlayService) -> list[Json]:
    """Return one object for each silent member, a few at most, those first that should answer."""
    return [
        {
            "node_id": each.node_id.hex(),
            "endpoint": next(iter(endpoints_json(overlay, each.node_id)), None),
            "operator": each.operator,
            "silent_s": round(each.silent_s),
            "stable": each.stable,
            "farewell": each.took_leave,
        }
        for each in overlay.report.silent_members()[:MAX_NAMED]
    ]


def endpoints_json(overlay: OverlayService, peer: NodeId) -> list[Json]:
    """Return the addresses of a member, or of this node, as far as they are known."""
    contact = overlay.view.contact(peer)
    return [msgspec.to_builtins(endpoint) for endpoint in contact.endpoints] if contact else []
