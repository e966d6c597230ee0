"""A node announces slots that are reconciled and indexed at once, and its load and due work now and then."""

import asyncio
from types import SimpleNamespace
from typing import Any

from dht import FaultSite, Load
from node.app.readiness_announcer import LOAD_EVERY_S, ReadinessAnnouncer
from node.crawling.machine_load import MachineReading
from node.extras.simulation.loop import SimLoop


def test_a_slot_waits_for_the_index_and_leaves_at_once() -> None:
    loop = SimLoop()
    said: list[tuple[float, frozenset[int], bool]] = []
    indexed, level_at, unindexed = 10, {1: 0, 2: 10}, frozenset[int]()
    index = SimpleNamespace(reached=lambda sequence: sequence <= indexed, is_stuck=False, is_answering=True)
    index.stored_only = lambda slots: unindexed & slots

    faults: list[SimpleNamespace] = []
    disks: list[int] = []
    only: list[frozenset[int]] = []

    def announce(slots: frozenset[int], due: int, load: Load | None, stored_only: frozenset[int]) -> None:
        said.append((loop.time(), slots, load is not None))
        only.append(stored_only)
        disks.extend([load.disk] if load else [])

    async def main() -> None:
        nonlocal indexed, level_at, unindexed
        view = SimpleNamespace(strategy=SimpleNamespace(slot_bits=4, room_unit=10), why_apart=lambda: "")
        env: Any = SimpleNamespace(
            member=SimpleNamespace(
                overlay=SimpleNamespace(view=view, announce=announce, take_part_with=lambda room: None)
            ),
            machine=SimpleNamespace(
                files=SimpleNamespace(room=None),
                store=SimpleNamespace(
                    room=SimpleNamespace(used_bytes=1, quota_bytes=10, capacity_bytes=10, refused_count=0)
                ),
                load=MachineReading,
                clock=loop.clock(),
                faults=SimpleNamespace(present=lambda: faults),
            ),
        )
        replicator: Any = SimpleNamespace(
            level_at=lambda: level_at, ready_changed=asyncio.Event(), is_handing_over=False
        )
        crawler: Any = SimpleNamespace(due=lambda: {1: 3})
        announcer = ReadinessAnnouncer(env, replicator, index, crawler)  # type: ignore[arg-type]
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(announcer.run())
            await asyncio.sleep(0.5)
            assert said == [(0.0, {1, 2}, False), (0.0, {1, 2}, True)]
            level_at = {2: 10, 3: 12}
            replicator.ready_changed.set()
            await asyncio.sleep(0.001)
            assert said[2:] == [(0.5, {2}, False)], "what is ready no more leaves; what is not indexed yet waits"
            indexed = 12
            await asyncio.sleep(1.0)
            assert said[-1][1] == {2, 3}
            level_at = {2: 13, 3: 12}
            replicator.ready_changed.set()
            await asyncio.sleep(0.001)
            assert said[-1][1] == {3}, "lost and regained meanwhile: what it learned then is not indexed yet"
            indexed = 14
            await asyncio.sleep(1.0)
            assert said[-1][1] == {2, 3} and not only[-1]
            unindexed = frozenset({1, 3})
            await asyncio.sleep(1.0)
            assert said[-1][1] == {2, 3} and only[-1] == {3}, "it stores the slot on, and says that it answers no more"
            await asyncio.sleep(10 * LOAD_EVERY_S)
            loads = [at for at, _, has_load in said if has_load]
            assert len(loads) in (10, 11)
            faults.append(SimpleNamespace(site=FaultSite.STORE))
            await asyncio.sleep(2 * LOAD_EVERY_S)
            assert disks[0] == 10 and disks[-1] == 100, "a disk that takes nothing is as good as full"
            running.cancel()

    loop.run(main())
