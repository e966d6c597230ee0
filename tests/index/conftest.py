"""Tests here share `index_corpus`; under importlib mode a test's folder is not on the path by itself.

Those marked `virtual_time` run in it: an answer is in time or late by what the test says, not by what else the machine
does. Tests that wait for threads cannot.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.store.network import VirtualLoop

if TYPE_CHECKING:
    from index_network import World

sys.path.append(str(Path(__file__).parent))


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the one loop that a test runs on."""
    return {"its": VirtualLoop if item.get_closest_marker("virtual_time") else asyncio.new_event_loop}


@pytest.fixture
async def make_world() -> AsyncIterator[Callable[..., "World"]]:
    """Makes networks, which are closed in the end."""
    from index_network import World

    made: list[World] = []

    def make(*args: Any, **named: Any) -> World:
        made.append(World(*args, **named))
        return made[-1]

    yield make
    for world in made:
        await world.close()
