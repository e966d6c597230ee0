"""Looks every few seconds at what a node needs of its owner, tells other members, and has the owner told what is new.

A small file lists the events that were told, so that they are not told again after a restart.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from dht import Clock, Condition, MachineRefuses, write_atomically
from node.owner.condition import Outlook, condition_of
from node.owner.events import OwnerEvent, OwnerEvents
from node.owner.needs import MAX_TEXT, OwnerNeed
from node.views.safe_text import plain

log = logging.getLogger(__name__)

LOOK_EVERY_S = 15.0
NOTE_EVERY_S = 600.0  # while something is told and not over; so an hour of REMEMBERED_S is 50 minutes at least
MAX_NOTE_BYTES = 1 << 16

Look = Callable[[], Awaitable[Outlook]]
Say = Callable[[Condition], None]
Tell = Callable[[OwnerEvent], Awaitable[object]]


class OwnerWatch:
    """Connects a node's needs with what tells its owner."""

    def __init__(self, look: Look, say: Say, tell: Tell, note: Path, clock: Clock) -> None:
        """`look`: returns how the node is at this moment; `say`: tells other members; `tell`: delivers an event to the
        owner; `note`: the file."""
        self._look_at, self._say, self._tell, self._note, self._clock = look, say, tell, note, clock
        self._events = OwnerEvents(_read(note), clock().wall)
        self._noted_at = float("-inf")

    async def run(self) -> None:
        """Look, tell and take notes, until cancelled."""
        while True:
            await self.step()
            await asyncio.sleep(LOOK_EVERY_S)

    async def step(self) -> None:
        """Look once, and deliver what is new, one event after the other; what was delivered is noted then."""
        now = self._clock()
        outlook = await self._outlook()
        self._say(outlook.condition)
        events = self._events.step(outlook.needs, now)
        for event in events:
            log.info(
                "%s topic=%s: %s", "needs its owner" if event.state == "begins" else "over", event.topic, event.text
            )
            await self._tell(event)
        if events or (self._events.told and now.steady - self._noted_at >= NOTE_EVERY_S):
            self._noted_at = now.steady
            await asyncio.to_thread(self._write, self._events.note(self._clock().wall))

    async def _outlook(self) -> Outlook:
        try:
            return await self._look_at()
        except (MachineRefuses, OSError) as error:  # a disk that fails is what the owner is called for
            needs = (OwnerNeed("machine", "trouble", plain(error, MAX_TEXT), ("status",)),)
            return Outlook(needs, condition_of("trouble", needs, 0))

    def _write(self, note: bytes) -> None:
        try:
            write_atomically(self._note, note)
        except OSError as error:  # a full disk is among what the owner is told: that must not wait for it
            log.warning("what the owner was told is not noted reason=%s; it may be told again after a restart", error)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_NOTE_BYTES)
    except OSError:
        return b""
