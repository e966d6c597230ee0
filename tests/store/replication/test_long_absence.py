"""A node that returns after weeks brings back nothing that was removed meanwhile, and restores what all others lost."""

import asyncio

from msgspec.structs import replace

from store import Document, Draft, Kind, decode_document, encode_document
from tests.store.network import Net, Node, in_network
from tests.store.replication.granted_pages import owned_by, shown, started, version, write
from tests.store.support import WALL, url

AWAY_DAYS = 40
TODAY = int(WALL // 86_400)
YEAR = TODAY + 365
NUMBERS = range(7, 42, 7)  # pages of one site
STAYED, CHANGED, LEFT, ENDED, LOST = (replace(version(n, 0.0, "first"), expires_day=YEAR) for n in NUMBERS)
NEWER = replace(version(NUMBERS[1], 20.0, "second"), expires_day=YEAR)
GONE = replace(
    version(NUMBERS[2], 20.0, ""),
    body=encode_document(Document(url(NUMBERS[2]), WALL + 20.0, 404, gone=True)),
    expires_day=YEAR + 2,
)
ENDS = replace(ENDED, expires_day=TODAY + 10)


def is_gone(node: Node, made: Draft) -> bool:
    page = node.store.find(Kind.DOCUMENT, made.id)
    return page is not None and decode_document(page.body).gone


@in_network(4)
async def test_forty_days_away_revives_nothing_and_brings_back_what_all_others_lost(net: Net) -> None:
    await started(net, 4)
    first, second, sleeper = owned_by(net, STAYED)
    pages = (STAYED, CHANGED, LEFT, ENDS, LOST)
    for page in pages:
        await write(net, page, first, second)
    await net.until(net.is_level)
    await sleeper.stop()
    for page in (NEWER, GONE):
        await write(net, page, first, second)
    for node in net.list:
        node.slept_s += AWAY_DAYS * 86_400.0
    await asyncio.sleep(2 * first.config.tend_every_s)  # they drop what has ended
    for node in net.running():
        record = node.store.find(Kind.DOCUMENT, LOST.id)
        await node.store.forget([record] if record is not None else [])
    sleeper.start()
    await net.all_ready()
    await net.until(lambda: all(shown(node, LOST) == "first" for node in owned_by(net, LOST)))
    await net.until(net.is_level)
    for node in owned_by(net, STAYED):
        assert shown(node, STAYED) == "first" and shown(node, CHANGED) == "second"
        assert is_gone(node, LEFT) and node.store.find(Kind.DOCUMENT, ENDS.id) is None
