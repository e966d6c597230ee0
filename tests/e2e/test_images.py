"""A page is found by the words of its images: crawled by a node, shown in its tab, its API and to YaCy's clients."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest
from machines import village, wait_until

PAGES = {
    "index.html": """<html><head><title>Animals</title></head><body><h1>Animals of the north</h1><p>Nothing else is
        written here.</p><figure><img data-src="/fox.jpg" alt="A red fox" width="640" height="480"><figcaption>Vulpes at
        dusk</figcaption></figure><img src="/owl.jpg" alt="&lt;b&gt;Snowy owl">
        <a href="/plain.html">more</a></body></html>""",
    "plain.html": """<html><head><title>Words</title></head><body><p>A page of words about the red fox, without any
        picture.</p><img src="/dot.gif" alt="red fox" width="1" height="1"></body></html>""",
}
MEDIA = "{http://search.yahoo.com/mrss/}content"


def read(address: str) -> str:
    with urlopen(address, timeout=20) as reply:
        text: str = reply.read().decode()
    return text


@pytest.mark.e2e
def test_a_page_is_found_by_its_images(tmp_path: Path) -> None:
    with village(tmp_path, {"zoo.test": PAGES}, 21400, most=1) as town:
        node = town.add("one")
        node.start()
        url, at = f"http://zoo.test:{town.port}/", f"http://127.0.0.1:{node.web_port}"
        node.do("crawl", url, "--depth", "1")
        wait_until("both pages are indexed", lambda: len(node.urls(f"site:zoo.test:{town.port}")) == 2)

        found: dict[str, Any] = json.loads(read(f"{at}/api/v1/search?q=inimage:dusk"))
        assert [each["url"] for each in found["results"]] == [url] and (found["total"], found["exact"]) == (1, True)
        fox, owl = found["results"][0]["images"]
        assert (fox["url"], fox["text"], fox["caption"]) == (f"{url}fox.jpg", "A red fox", "Vulpes at dusk")
        assert (fox["heading"], fox["width"], fox["height"]) == ("Animals of the north", 640, 480)
        best = json.loads(read(f"{at}/api/v1/search?q=inimage:owl"))["results"][0]["images"][0]
        assert best == owl

        page = read(f"{at}/search?q=the+red+fox")
        assert f'href="{url}plain.html"' in page
        (tab,) = re.findall(r'href="(/search\?[^"]*tab=images)"', page)
        images = read(at + tab.replace("&amp;", "&"))
        assert f'href="{url}fox.jpg"' in images and "640 × 480" in images and "Vulpes at dusk" in images
        assert f"{url}plain.html" not in images and "1 result" in images
        assert "&lt;b&gt;Snowy owl" in images and not re.search(r"<(img|picture|source|video)\b", images)
        assert 'name="tab" value="images"' in images  # the next query is asked of images, too

        channel = json.loads(read(f"{at}/yacysearch.json?query=red+fox&contentdom=image"))["channels"][0]
        assert channel["totalResults"] == "1" and channel["items"][0]["image"] == f"{url}fox.jpg"
        feed = ElementTree.fromstring(read(f"{at}/yacysearch.rss?query=red+fox&contentdom=image"))
        assert [each.get("url") for each in feed.iter(MEDIA)] == [f"{url}fox.jpg", f"{url}owl.jpg"]
