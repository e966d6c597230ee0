"""How much a node writes at once."""

import asyncio

from store.replication.write_room import WriteRoom

PART = 1000


def test_the_bound_follows_what_is_written_in_time() -> None:
    room = WriteRoom(2 * PART, 32 * PART, 5.0)
    for n in range(40):
        room.note(PART, n, n + 1.0)
    assert room.bound_bytes == 32 * PART, "it rises as far as it may"
    for n in range(8):
        room.note(PART, 100.0 + n / 10, 110.0)
    assert room.bound_bytes == 16 * PART, "what was under way together lowers it once"
    for jam in range(10):
        room.note(PART, 120.0 + 10 * jam, 129.0 + 10 * jam)
    assert room.bound_bytes == 2 * PART, "and never below the least"


async def test_who_asked_first_enters_first_and_who_gives_up_leaves_no_hole() -> None:
    room, entered = WriteRoom(PART, PART, 5.0), list[int]()

    async def enter(n: int) -> None:
        await room.enter(PART)
        entered.append(n)

    async with asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(enter(n)) for n in range(6)]
        await asyncio.sleep(0)
        assert entered == [0, 1] and room.held_bytes == 2 * PART, "a write enters where anything is left"
        waiting[2].cancel()
        for _ in range(2):
            room.leave(PART)
        waiting[4].cancel()  # just after it was let in
        await asyncio.sleep(0)
        while len(entered) < 4:
            room.leave(PART)
            await asyncio.sleep(0)
    assert entered == [0, 1, 3, 5]
    for _ in range(room.held_bytes // PART):
        room.leave(PART)
    assert room.held_bytes == 0
