"""A browser that the node's owner logged in."""

from typing import Any

import pytest

from tests.node.web.browsers import Browser, linked
from tests.node.web.owner_desk import full_history


@pytest.fixture
def owner(site: Any, token: str) -> Browser:
    """A browser that its owner logged in: `get` a page and `post` a form."""
    site.service.owner.history = full_history()
    return linked(site, token)
