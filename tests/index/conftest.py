"""Tests here share `index_corpus`; under importlib mode a test's folder is not on the path by itself.

Those marked `virtual_time` run in it: an answer is in time or late by what the test says, not by what else the machine
does. What waits for threads cannot.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.store.network import VirtualLoop

sys.path.append(str(Path(__file__).parent))


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the one loop that a test runs on."""
    return {"its": VirtualLoop if item.get_closest_marker("virtual_time") else asyncio.new_event_loop}
