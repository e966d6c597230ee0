"""An engine for SearXNG: copy this file to its folder `searx/engines`, with the name `dse`, and add to `settings.yml`:

    engines:
      - name: dse
        engine: dse
        shortcut: dse
        base_url: http://127.0.0.1:8090
        enable_http: true      # without it, SearXNG asks by https alone

SearXNG calls `request` for a search and `response` with what the node answered. Errors of the node, and 429 where it is
asked too often, are raised by SearXNG itself, which then leaves the engine alone for a while.
"""

import json
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from searx.exceptions import SearxEngineAPIException

about = {"use_official_api": True, "require_api_key": False, "results": "JSON"}
categories = ["general"]
paging = True
time_range_support = True
safesearch = False
base_url = "http://127.0.0.1:8090"
page_size = 10

MAX_RESULTS = 100  # of one answer of the API, which has cursors instead of numbered pages
DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


def request(query: str, params: dict[str, Any]) -> dict[str, Any]:
    """Say what to ask: a later page asks for all results up to its end; beyond the hundredth nothing is asked."""
    reach = params["pageno"] * page_size
    words = query.strip()
    if reach > MAX_RESULTS or not words:
        params["url"] = None
        return params
    if days := DAYS.get(params.get("time_range") or ""):
        words = f"after:{date.today() - timedelta(days)} ({words})"
    language = str(params.get("language") or "all").partition("-")[0]
    asked = {"q": words, "limit": reach, "lang": "" if language in ("all", "auto") else language}
    params["url"] = f"{base_url.rstrip('/')}/api/v1/search?{urlencode(asked)}"
    params["dse_start"] = reach - page_size
    return params


def response(resp: Any) -> list[dict[str, Any]]:
    """Read an answer; what is none of a node's is an error, and a result that cannot be shown is left out."""
    try:
        body = json.loads(resp.text)
        found = body["results"][resp.search_params["dse_start"] :]
    except (ValueError, TypeError, KeyError) as error:
        raise SearxEngineAPIException(f"no answer of a dse node: {type(error).__name__} {error}") from error
    results = [result for each in found if (result := _result(each))]
    for kind, listed in (("suggestion", "suggestions"), ("correction", "corrections")):
        results += [{kind: str(text)} for text in body.get(listed) or ()]
    return results


def _result(found: Any) -> dict[str, Any] | None:
    url = found.get("url") if isinstance(found, dict) else None
    if not isinstance(url, str) or not _can_be_shown(url):
        return None
    result: dict[str, Any] = {"url": url, "title": str(found.get("title") or url)}
    result["content"] = str(found.get("snippet") or "")
    with suppress(KeyError, TypeError, ValueError, OverflowError, OSError):  # most pages say no date
        result["publishedDate"] = datetime.fromtimestamp(found["date"], UTC).replace(tzinfo=None)
    return result


def _can_be_shown(url: str) -> bool:
    """Tell whether SearXNG can split an address and decode its host: otherwise it drops the whole answer."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.netloc.encode().decode("idna"))
    except ValueError:
        return False
