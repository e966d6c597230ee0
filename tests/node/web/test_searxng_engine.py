"""Our engine for SearXNG, with the one thing that it imports of SearXNG stubbed, against a listener."""

import sys
from datetime import date, datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ENGINE = Path(__file__).parents[3] / "examples" / "searxng_dse.py"
PAGE = "http://docs.python.test/3/tutorial/appetite.html"


class ApiError(RuntimeError):
    """Stands for searx.exceptions.SearxEngineAPIException."""


@pytest.fixture
def engine(site: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    exceptions = ModuleType("searx.exceptions")
    exceptions.__dict__["SearxEngineAPIException"] = ApiError
    monkeypatch.setitem(sys.modules, "searx", ModuleType("searx"))
    monkeypatch.setitem(sys.modules, "searx.exceptions", exceptions)
    spec = spec_from_file_location("searxng_dse", ENGINE)
    assert spec is not None and spec.loader is not None
    module: Any = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.base_url = f"http://127.0.0.1:{site.port}/"
    return module


def ask(engine: Any, site: Any, query: str, **given: Any) -> list[dict[str, Any]]:
    """Ask as SearXNG does, which hands the parameters of the request to `response` with the answer."""
    params = {"pageno": 1, "language": "all", "time_range": None, "safesearch": 0, **given}
    engine.request(query, params)
    reply = site.get(params["url"].removeprefix(f"http://127.0.0.1:{site.port}"))
    found: list[dict[str, Any]] = engine.response(SimpleNamespace(text=reply.text, search_params=params))
    return found


def test_it_finds_with_language_and_number(engine: Any, site: Any) -> None:
    found = ask(engine, site, " task ", language="en-US")
    assert found[0]["url"] == PAGE and "some task to automate" in found[0]["content"]
    assert found[-1] == {"number_of_results": 1234}
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


@pytest.mark.parametrize("text", ["", "<html>", "[]", "null", '{"results": 7, "total": 1}', '{"results": []}', "7"])
def test_what_is_no_answer_is_an_error_of_the_engine(engine: Any, text: str) -> None:
    with pytest.raises(ApiError, match="no answer of a dse node"):
        engine.response(SimpleNamespace(text=text, search_params={"dse_start": 0}))


def test_an_odd_result_costs_its_own_place_only(engine: Any) -> None:
    text = (
        '{"total": 3, "results": [7, {}, {"url": "javascript:x"}, {"url": "https://a.test/", "date": 1e300},'
        ' {"url": "https://b.test/", "title": "B", "snippet": "s", "date": 86400}]}'
    )
    odd, good, _ = engine.response(SimpleNamespace(text=text, search_params={"dse_start": 0}))
    assert odd == {"url": "https://a.test/", "title": "https://a.test/", "content": ""}
    assert good["publishedDate"] == datetime(1970, 1, 2)
