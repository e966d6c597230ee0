"""A damaged index of the store costs a node its open files, once in a while, and never what else went wrong."""

import asyncio
from collections.abc import Sequence

import pytest

from node.extras.simulation.loop import SimLoop
from node.process.reopening import REOPEN_S, reopening
from store.errors import StoreCorrupt

DAMAGE = StoreCorrupt("store/catalog.sqlite", "malformed", "start again")


async def told(endings: Sequence[BaseException | None], apart_s: float) -> int:
    """Serve with these endings, one after the other; return how often it was served."""
    left = list(endings)

    async def serve() -> None:
        await asyncio.sleep(apart_s)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(2):
                tasks.create_task(asyncio.sleep(0.0))
            if (ending := left.pop(0)) is not None:
                raise ending

    await reopening(serve)
    return len(endings) - len(left)


def test_it_is_served_again_after_damage_now_and_then() -> None:
    SimLoop().run(_now_and_then())


async def _now_and_then() -> None:
    assert await told([DAMAGE, DAMAGE, DAMAGE, None], REOPEN_S + 1) == 4
    with pytest.raises(BaseExceptionGroup):
        await told([DAMAGE, DAMAGE, None], 1.0)


@pytest.mark.parametrize("error", [ValueError("a bug"), OSError("a port is taken")])
def test_what_else_ends_it_is_no_reason_to_begin_again(error: Exception) -> None:
    async def main() -> None:
        with pytest.raises(BaseExceptionGroup):
            await told([error, None], 1.0)
        both = BaseExceptionGroup("both", [DAMAGE, error])
        with pytest.raises(BaseExceptionGroup):
            await told([both, None], 1.0)

    SimLoop().run(main())


def test_a_stop_is_a_stop() -> None:
    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await told([asyncio.CancelledError(), None], 1.0)

    SimLoop().run(main())
