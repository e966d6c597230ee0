"""A browser that the node's owner logged in."""

import time
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.node.web.owner_desk import full_history

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def owner(site: Any, token: str) -> Any:
    """A browser that its owner logged in: `get` a page and `post` a form."""
    site.service.owner.history = full_history(time.time())
    return Browser(site, token)


class Browser:
    def __init__(self, site: Any, token: str) -> None:
        self.site, self.service = site, site.service
        link = site.send(
            "POST", "/api/v1/login", b"{}", Authorization=f"Bearer {token}", Content_Type="application/json"
        )
        self.cookie = site.get(link.json["path"]).headers["set-cookie"].partition(";")[0]
        self.own = f"http://127.0.0.1:{site.port}"

    def get(self, path: str, **headers: str) -> Any:
        return self.site.get(path, Cookie=self.cookie, **headers)

    def post(self, path: str, fields: dict[str, Any], **headers: str) -> Any:
        sent = {"Origin": self.own, "Cookie": self.cookie, "Content_Type": FORM, **headers}
        return self.site.send("POST", path, urlencode(fields).encode(), **sent)
