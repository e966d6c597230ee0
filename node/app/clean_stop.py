"""Brings to an end what a node is at before it stops, so that it may say farewell: the others lack nothing then.

In a network of two or three members whoever stops cleanly stops nobody (`dht/membership/farewell_book.py`). Where
others lack something still when the time is over, the node stops without a farewell, and they wait for it.
"""

import asyncio
import logging

from dht import OverlayService
from node.app.node_core import NodeCore

log = logging.getLogger(__name__)

DRAIN_S = 5.0  # for what is open and owed
LOOK_S = 0.1


async def take_leave(core: NodeCore, overlay: OverlayService) -> None:
    """Fetch nothing more, hand over what is owed, and have the end of the overlay's run be a farewell if that is
    done."""
    if not overlay.going_on():
        return
    core.fetching.pause.pause()
    try:
        async with asyncio.timeout(DRAIN_S):
            while core.crawl.crawler.status().open or not _lacks_nothing(core, overlay):
                await asyncio.sleep(LOOK_S)
    except TimeoutError:
        log.info("node stops before all that it began has ended seconds=%.0f", DRAIN_S)
    if _lacks_nothing(core, overlay):
        overlay.take_leave()


def _lacks_nothing(core: NodeCore, overlay: OverlayService) -> bool:
    """Whether somebody who goes on has all that was acknowledged here."""
    view, kept, going_on = overlay.view, core.store.replicator.status(), overlay.going_on()
    return not (kept.owed_now or kept.writing_bytes) and all(going_on & {*view.ready(s)} for s in view.owned())
