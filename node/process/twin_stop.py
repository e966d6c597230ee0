"""Ends a node that finds, right after its start, that another machine runs with its identity.

That is a copy that was started beside the one that it was made of, most likely. Of two that run, neither votes nor
crawls (`dht/membership/reasons_apart.py`); the one that was there before goes on when the other has ended.
"""

import asyncio

from dht import OverlayService
from node.errors import TwinRuns

YOUNG_S = 60.0  # since the start; who runs for longer was there before
LOOK_S = 1.0


async def give_way_to_twin(overlay: OverlayService) -> None:
    """Return when this node is young no longer; raises TwinRuns where another one was there before."""
    ends = asyncio.get_running_loop().time() + YOUNG_S
    while asyncio.get_running_loop().time() < ends:
        if warning := overlay.report.twin_warning():
            raise TwinRuns(warning)
        await asyncio.sleep(LOOK_S)
