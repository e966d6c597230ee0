"""Our engine for SearXNG, with the one thing that it imports of SearXNG stubbed, against a listener."""

import re
import sys
from datetime import date, datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import urlparse

import pytest

ROOT = Path(__file__).parents[3]
ENGINE = ROOT / "examples" / "searxng_dse.py"
PAGE = "http://docs.python.test/3/tutorial/appetite.html"


class ApiError(RuntimeError):
    """Stands for searx.exceptions.SearxEngineAPIException."""


@pytest.fixture
def engine(site: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    return load_engine(f"http://127.0.0.1:{site.port}/", monkeypatch)


def load_engine(base_url: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load our engine as it is, set up for a node."""
    exceptions = ModuleType("searx.exceptions")
    exceptions.__dict__["SearxEngineAPIException"] = ApiError
    monkeypatch.setitem(sys.modules, "searx", ModuleType("searx"))
    monkeypatch.setitem(sys.modules, "searx.exceptions", exceptions)
    spec = spec_from_file_location("searxng_dse", ENGINE)
    assert spec is not None and spec.loader is not None
    module: Any = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.base_url = base_url
    return module


def ask(engine: Any, site: Any, query: str, **given: Any) -> list[dict[str, Any]]:
    """Ask as SearXNG does, which hands the parameters of the request to `response` with the answer."""
    params = {"pageno": 1, "language": "all", "time_range": None, "safesearch": 0, **given}
    engine.request(query, params)
    reply = site.get(params["url"].removeprefix(f"http://127.0.0.1:{site.port}"))
    found: list[dict[str, Any]] = engine.response(SimpleNamespace(text=reply.text, search_params=params))
    assert all(map(is_legal, found)), found
    return found


def is_legal(result: dict[str, Any]) -> bool:
    """Tell whether SearXNG accepts a result, in its versions from 2024 to 9fea412 (August 2026). It may be a
    suggestion, a correction, or a page whose address can be split. A page's fields must exist in `MainResult`, with the
    types there."""
    if result.keys() & {"suggestion", "correction"}:
        return len(result) == 1 and all(isinstance(text, str) for text in result.values())
    date_of_page = result.get("publishedDate", datetime(2026, 1, 1))
    return (
        result.keys() <= {"url", "title", "content", "publishedDate"}
        and all(isinstance(result.get(name), str) for name in ("url", "title", "content"))
        and bool(urlparse(result["url"]).netloc)
        and isinstance(date_of_page, datetime)
    )


def test_it_finds_in_a_language_what_searxng_can_show(engine: Any, site: Any) -> None:
    found = ask(engine, site, " task ", language="en-US")
    assert found[0]["url"] == PAGE and "some task to automate" in found[0]["content"]
    asked = site.service.asked[-1]
    assert (asked.text, asked.limit, asked.language) == ("task", 10, "en")
    assert {"suggestion": "zebra <finch>"} in ask(engine, site, "zebar")
    assert {"correction": "<zebra> crossing"} in ask(engine, site, "zebar")


def test_a_later_page_begins_where_the_one_before_ended(engine: Any, site: Any) -> None:
    engine.page_size = 1
    first, second = (ask(engine, site, "e", pageno=number)[0]["url"] for number in (1, 2))
    assert first == PAGE and second != first
    assert site.service.asked[-1].limit == 2
    params = {"pageno": 101, "language": "all"}
    assert engine.request("e", params)["url"] is None, "SearXNG asks nothing then"


def test_a_time_range_is_a_filter_around_all_words(engine: Any, site: Any) -> None:
    ask(engine, site, "cat OR dog", time_range="week")
    assert site.service.asked[-1].text == f"after:{date.today() - timedelta(7)} (cat OR dog)"


@pytest.mark.parametrize("text", ["", "<html>", "[]", "null", '{"results": 7, "total": 1}', '{"total": 1}', "7"])
def test_what_is_no_answer_is_an_error_of_the_engine(engine: Any, text: str) -> None:
    with pytest.raises(ApiError, match="no answer of a dse node"):
        engine.response(SimpleNamespace(text=text, search_params={"dse_start": 0}))


def test_an_odd_result_costs_its_own_place_only(engine: Any) -> None:
    text = (
        '{"total": 3, "results": [7, {}, {"url": "javascript:x"}, {"url": "https://a.test/", "date": 1e300},'
        ' {"url": "http://[a.test/"}, {"url": "https://"}, {"url": "http://xn--a.test/"},'
        ' {"url": "https://b.test/", "title": "B", "snippet": "s", "date": 86400}]}'
    )
    odd, good = engine.response(SimpleNamespace(text=text, search_params={"dse_start": 0}))
    assert odd == {"url": "https://a.test/", "title": "https://a.test/", "content": ""}
    assert good["publishedDate"] == datetime(1970, 1, 2)


@pytest.mark.parametrize(
    ("sent", "query", "given"),
    [
        ("q=sqlite+database&limit=10&lang=", "sqlite database", {}),
        ("q=sqlite+database&limit=20&lang=en", "sqlite database", {"language": "en-US", "pageno": 2}),
        ("q=%E6%95%B0%E6%8D%AE+%22a+b%22%26%3D&limit=10&lang=zh", '数据 "a b"&=', {"language": "zh-CN"}),
        ("q=sqlite&limit=10&lang=", "sqlite", {"language": "auto", "safesearch": 2}),
    ],
)
def test_its_requests_are_those_that_were_recorded(
    engine: Any, site: Any, sent: str, query: str, given: dict[str, Any]
) -> None:
    """`sent` is what SearXNG 9fea412 sent a node by this engine, byte for byte."""
    ask(engine, site, query, **given)
    params = engine.request(query, {"pageno": 1, "language": "all", **given})
    assert params["url"] == f"http://127.0.0.1:{site.port}/api/v1/search?{sent}"


def test_what_is_printed_for_settings_yml_can_be_asked_by_http() -> None:
    """SearXNG asks no engine by http whose settings do not say `enable_http`."""
    printed = [ENGINE.read_text(), (ROOT / "docs" / "clients.md").read_text()]
    engines = [block for text in printed for block in re.findall(r"^ +- name: .*\n(?: +\w+: .*\n)+", text, re.M)]
    assert len(engines) == 3
    for block in engines:
        keys = dict(re.findall(r"(\w+): (\S+)", block))
        assert keys["base_url"] == "http://127.0.0.1:8090" and keys["enable_http"] == "true", block
        assert keys["engine"] in ("dse", "yacy") and keys["shortcut"], "two without a shortcut end SearXNG"
