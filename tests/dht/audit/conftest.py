"""Tests marked `virtual_time` wait on a loop whose time jumps, so that seconds of rest take none."""

import asyncio

import pytest

from tests.store.network import VirtualLoop


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, type[asyncio.AbstractEventLoop]]:
    """Return the one loop that a test runs on."""
    return {"its": VirtualLoop if item.get_closest_marker("virtual_time") else asyncio.SelectorEventLoop}
