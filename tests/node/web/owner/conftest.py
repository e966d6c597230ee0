"""A browser that the node's owner logged in."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.node.web.browsers import Browser, linked
from tests.node.web.owner_desk import full_history


@pytest.fixture
def owner(site: Any, token: str) -> Browser:
    """A browser that its owner logged in: `get` a page and `post` a form."""
    site.service.owner.history = full_history()
    return linked(site, token)


@pytest.fixture
def wait(site: Any) -> Iterator[Callable[[float], None]]:
    """Stop a node's clock, which goes on by so many seconds alone."""
    loop, real = site.loop, site.loop.time
    now = real()

    def go_on(seconds: float) -> None:
        nonlocal now
        now += seconds

    loop.time = lambda: now
    yield go_on
    loop.time = real
