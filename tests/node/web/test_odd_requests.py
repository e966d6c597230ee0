"""Odd requests: each is answered with what was wrong about it, or as if it were none, and a log tells few of them."""

from typing import Any

import pytest

from tests.node.web.odd_requests import odd_requests, status_of
from tests.parameters import proved


@pytest.mark.parametrize("per_route", [25, *proved(400)])
def test_no_odd_request_is_an_error_of_this_node(
    site: Any, token: str, per_route: int, caplog: pytest.LogCaptureFixture
) -> None:
    asked = list(odd_requests(site.port, token, per_route, per_route))
    failed = [about for about, sent in asked if status_of(site.port, sent) in (500, 502, 503)]
    assert not failed, (len(failed), failed[:20])
    assert "Traceback" not in caplog.text and len(caplog.text) < 10 * len(asked), caplog.text[:4000]
    assert site.get("/healthz").status == 200
