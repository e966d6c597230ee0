"""A browser in which somebody logged in."""

from typing import Any
from urllib.parse import urlencode

FORM = "application/x-www-form-urlencoded"


class Browser:
    """Sends a session's cookie along: `get` a page and `post` a form."""

    def __init__(self, site: Any, cookie: str) -> None:
        self.site, self.service, self.cookie = site, site.service, cookie
        self.own = f"http://127.0.0.1:{site.port}"

    def get(self, path: str, **headers: str) -> Any:
        return self.site.get(path, Cookie=self.cookie, **headers)

    def post(self, path: str, fields: dict[str, Any], **headers: str) -> Any:
        sent = {"Origin": self.own, "Cookie": self.cookie, "Content_Type": FORM, **headers}
        return self.site.send("POST", path, urlencode(fields).encode(), **sent)


def linked(site: Any, token: str) -> Browser:
    """A browser in which the owner followed a link of `dse-node open`."""
    order = {"Authorization": f"Bearer {token}", "Content_Type": "application/json"}
    path = site.send("POST", "/api/v1/login", b"{}", **order).json["path"]
    return Browser(site, site.get(path).headers["set-cookie"].partition(";")[0])


def type_password(site: Any, password: str, **headers: str) -> Any:
    sent = {"Origin": f"http://127.0.0.1:{site.port}", "Content_Type": FORM, **headers}
    return site.send("POST", "/login", urlencode({"password": password}).encode(), **sent)


def entered(site: Any, password: str, **headers: str) -> Browser:
    """A browser in which somebody typed a password."""
    reply = type_password(site, password, **headers)
    assert reply.status == 303 and reply.headers["location"] == "/owner"
    return Browser(site, reply.headers["set-cookie"].partition(";")[0])
