"""A document or a visit whose links are no URLs, whoever signed it, loses nothing but these links."""

import json
from pathlib import Path

from crawl import Visit, VisitState
from dht import document_id, placement_key, slot_of
from index import page_number
from node.ranking.host_links import HostLinks
from node.ranking.link_follower import LinkFollower
from node.ranking.redirects import Redirects
from node.ranking.slot_links import SlotLinks
from store import Document, Draft, Kind, encode_document
from store.record.document import LINK
from tests.node.crawling.test_frontier_sync import BITS, DAY, drafted, open_store, put

PAGE, MOVED, GOOD = "http://a.test/", "http://a.test/old", "https://www.port.test/times"
SHOWN = json.loads((Path(__file__).parents[2] / "data" / "urltestdata-http.json").read_text())
ODD = ["http://[/", "https://]", "http://[::g]/", "http:///x", "http://@/", "http://a:b/", "https://%/", "http://..../"]
ODD += [link for shown in SHOWN for link in shown if link is not None and LINK.fullmatch(link)]


def number(url: str) -> int:
    return page_number(placement_key(url), document_id(url))


async def test_links_that_are_no_urls_lose_nothing_but_themselves() -> None:
    store, links, hosts, redirects = open_store(), SlotLinks(), HostLinks(), Redirects()
    follower = LinkFollower(store, placement_key, links, hosts, redirects)
    slot = slot_of(placement_key(PAGE), BITS)
    follower.want([slot], BITS, None)
    body = encode_document(Document(PAGE, 0.001, 200, links=tuple((url, "text") for url in (*ODD, GOOD))))
    moved = Visit(MOVED, 2, state=VisitState.REDIRECT, visited_at=0.001, target="http://[/")
    page = Draft(Kind.DOCUMENT, document_id(PAGE), placement_key(PAGE), 1, 1, DAY + 9, body)
    await put(store, page, drafted(moved, 1, 1, DAY + 9))
    while await follower.step():
        pass
    assert follower.is_read(slot)
    ((_, found),) = links.of(slot)
    assert number(GOOD) in list(found) and "www.port.test" in hosts.votes(slot)["a.test"]
    assert not redirects.own
    store.close()
