"""Odd requests at the port of a running node: none is an error of its own, and all together write few lines of log."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from machines import linked, village, wait_until

from tests.node.web.odd_requests import changed, odd_requests, status_of
from tests.parameters import proved

pytestmark = pytest.mark.e2e
WEB = {"a.test": linked([f"topic{chr(97 + n)}" for n in range(9)], "a.test", "a.test")}


@pytest.mark.parametrize("per_route", [8, *proved(400)])
def test_no_odd_request_is_an_error_of_a_node_or_fills_its_log(tmp_path: Path, per_route: int) -> None:
    chance = Random(per_route)
    with village(tmp_path, WEB, 23520) as town:
        one = town.add("one")
        one.start()
        one.do("crawl", f"http://a.test:{town.port}/", "--depth", "20")
        wait_until("it has pages to ask for", lambda: one.status()["documents"] == 9)
        before, token = len(one.log), (one.data / "admin.token").read_text().strip()
        odd = odd_requests(one.web_port, token, per_route, per_route)
        asked = [(about, changed(sent, chance)) for about, sent in odd]
        with ThreadPoolExecutor(12) as callers:
            codes = callers.map(lambda each: status_of(one.web_port, each[1]), asked)
            failed = [each for each, code in zip(asked, codes, strict=True) if code >= 500]
        assert not failed, (len(failed), failed[:5])
        assert "Traceback" not in one.log and len(one.log) - before < 10 * len(asked) + 4_000
        one.stop()
