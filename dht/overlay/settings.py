"""The settings of a running overlay: where it listens, what it keeps, and as what it takes part.

The small files of one node's overlay: their folder, and the thread that reads and writes them.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dht.local_faults import LocalFaults
from dht.protocol.events import Event
from dht.reachability.evidence import Mode
from dht.wire.contact import Endpoint

OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class OverlaySettings:
    """Where and as what a node runs. `listening`: at most one endpoint a family, v4 first; 0.0.0.0 or :: for all."""

    listening: tuple[Endpoint, ...]
    folder: Path | None = None  # for strategies, the peer cache and the note of votes; None keeps nothing
    member: bool = True  # False: a bare bootstrap node, which holds nothing
    puzzle: Path | None = None  # file of the identity's solved puzzle; None: it is solved at each start
    invitation: Path | None = None  # file of this node's invitation; there need be none
    vouchers: Path | None = None  # folder of those that were handed out in words, to be found by them
    mode: Mode = "member"  # a client takes no part but by asking; auto: whether strangers reach it decides
    is_declared: bool = True  # whether the operator says where this node is reached, in every family
    probe_s: float = 0.0  # as in DhtConfig
    packets: bool = True  # carry small messages in packets; False: all by the transport


Result = TypeVar("Result")


class OverlayFiles:
    """Names a node's files and runs what blocks on them. `folder` None keeps nothing; `executor` has one named thread.
    `faults` is told what this machine refuses."""

    def __init__(self, folder: Path | None, executor: Executor, faults: LocalFaults) -> None:
        self.folder, self.executor, self.faults = folder, executor, faults

    def path(self, name: str) -> Path | None:
        """Return where a file lies; None where nothing is kept."""
        return self.folder / name if self.folder is not None else None

    async def run(self, work: Callable[..., Result], *args: object) -> Result:
        """Run blocking work on the thread, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *args)
