"""YaCy's interface: its modifiers, and an answer that no client takes for markup of a stranger's."""

from typing import Any

import pytest

from node.extras.clients.found import read_found
from node.extras.clients.yacy import YacyQuery, is_held, read_yacy_query, yacy_json

EVIL: dict[str, Any] = {
    "url": "https://evil.test/dir/file.html?x=<script>",
    "title": "<img src=x onerror=alert(1)>",
    "snippet": "<b>needle</b> & more",
    "highlights": [[3, 9]],
}


@pytest.mark.parametrize(
    ("typed", "lr", "read"),
    [
        ("open hours", "", YacyQuery("open hours", "", False)),
        ("open hours /date", "lang_de", YacyQuery("open hours", "de", True)),
        ("RECENT hours /language/fr", "lang_de", YacyQuery("hours", "fr", True)),
        ("LANGUAGE:zh site:a.test x", "", YacyQuery("site:a.test x", "zh", False)),
        ("/date", "", YacyQuery("", "", True)),
    ],
)
def test_modifiers_are_taken_out_of_a_query(typed: str, lr: str, read: YacyQuery) -> None:
    assert read_yacy_query(typed, lr) == read


def test_text_and_images_are_held() -> None:
    assert all(map(is_held, ("text", "", "ALL", "image")))
    assert not is_held("audio")


def test_a_channel_has_counts_as_texts_and_items_without_markup() -> None:
    channel = yacy_json(read_found({"results": [EVIL], "total": 41}, "<x>", 10), "http://node/search?q=x", 10)[
        "channels"
    ][0]
    assert (channel["totalResults"], channel["startIndex"], channel["itemsPerPage"]) == ("41", "10", "10")
    (item,) = channel["items"]
    assert item["description"] == "&lt;b&gt;<b>needle</b>&lt;/b&gt; &amp; more"
    assert "<" not in item["title"] + item["link"] + channel["title"] + channel["searchTerms"]
    assert (item["host"], item["path"], item["file"]) == ("evil.test", "/dir/", "file.html")
    assert "pubDate" not in item, "an empty date is none that clients can parse"
