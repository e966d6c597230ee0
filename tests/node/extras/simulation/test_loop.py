"""A place that sleeps does nothing till it wakes, and garbage is found later within, and as before after it."""

import asyncio
import gc
from contextvars import Context, copy_context

import pytest

from node.extras.simulation.loop import PLACE, SimLoop, rarely_collected


def test_what_was_begun_at_a_place_waits_while_it_sleeps_but_not_what_belongs_to_none() -> None:
    loop, seen = SimLoop(), list[tuple[str, float]]()

    def note(what: str) -> None:
        seen.append((what, loop.time()))

    def begin() -> None:
        PLACE.set("laptop")
        loop.call_later(1.0, note, "its own")
        loop.call_later(1.0, note, "under way", context=Context())
        loop.call_later(1.0, note, "cancelled").cancel()

    async def main() -> None:
        copy_context().run(begin)
        loop.sleep("laptop")
        await asyncio.sleep(5.0)
        loop.wake("laptop")
        await asyncio.sleep(1.0)

    loop.run(main())
    assert seen == [("under way", 1.0), ("its own", 5.0)]


def test_thresholds_are_those_of_before_also_after_an_error() -> None:
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rarely_collected():
        assert gc.get_threshold()[0] > before[0]
        raise ZeroDivisionError
    assert gc.get_threshold() == before
