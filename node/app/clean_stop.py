"""Finishes a node's work before it stops, so that it may say farewell.

In a network of two or three members a node that says farewell stops nobody (`dht/membership/farewell_book.py`). A
farewell requires that another member has everything acknowledged here. Where that is not so after `DRAIN_S`, the node
stops without a farewell, and the others wait for it.
"""

import asyncio
import logging

from dht import FEW_MEMBERS, OverlayService
from node.app.node_core import NodeCore

log = logging.getLogger(__name__)

DRAIN_S = 5.0  # for what is open and owed
LOOK_S = 0.1


async def take_leave(core: NodeCore, overlay: OverlayService) -> None:
    """Fetch nothing more and hand over what is owed. Where that is done in time, let the overlay say farewell."""
    if not 1 < len(overlay.view.members()) <= FEW_MEMBERS:
        return
    core.fetching.pause.pause()
    for _ in range(int(DRAIN_S / LOOK_S)):
        if not core.crawl.crawler.status().open and (_lack_nothing(core, overlay) or not overlay.going_on()):
            break
        await asyncio.sleep(LOOK_S)
    if _lack_nothing(core, overlay):
        overlay.take_leave()
    elif overlay.going_on():
        log.warning("node stops without a farewell: others lack what lies here, and wait for it")


def _lack_nothing(core: NodeCore, overlay: OverlayService) -> bool:
    """Return whether this node may leave without a loss. No copy may be owed or being written. Each slot that it owns
    needs a ready member that goes on."""
    view, kept, going_on = overlay.view, core.store.replicator.status(), overlay.going_on()
    is_paid = bool(going_on) and not (kept.owed_now or kept.writing_bytes)
    return is_paid and all(going_on & {*view.ready(slot)} for slot in view.owned())
