"""Tests here share `index_corpus`; under importlib mode a test's folder is not on the path by itself. They run in
virtual time: an answer is in time or late by what the test says, not by what else the machine does."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.store.network import VirtualLoop

sys.path.append(str(Path(__file__).parent))


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], VirtualLoop]]:
    """Return the one loop that these tests run on."""
    return {"virtual": VirtualLoop}
