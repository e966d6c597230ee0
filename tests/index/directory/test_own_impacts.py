"""What a node says of its own documents is what they are, however they came and went, and only what is new is news."""

import random

import index_corpus as corpus
import numpy as np
import pytest

from dht import NodeId, Slot
from index.directory.impact import impacts_of
from index.directory.impact_news import ImpactNews, SpokenSlots
from index.directory.impact_table import ENTRY_BYTES, NAME_BIT, ImpactTable, hashes_of
from index.directory.messages import SlotCounts
from index.directory.own_impacts import OwnImpacts
from index.directory.row_keeper import RowKeeper
from index.directory.term_row import SlotSummary
from index.query.ranking_rules import NEWEST_RANKING
from index.text.field_terms import analyse
from index.text.forward_index import decode_forward, encode_forward, forward_of
from index.text.site_host import front_name
from index.text.stem_classes import class_of

AVERAGE, ALL = 60.0, slice(None)
Entry = tuple[int, int, int]  # hash, slot, class
Said = dict[Entry, tuple[int, int, bool]]


def said_by(table: ImpactTable) -> Said:
    found = dict[Entry, tuple[int, int, bool]]()
    for term, (df, slot, level, mark) in zip(table.hashes.tolist(), table.words.tolist(), strict=True):
        found[term, slot, mark & ~NAME_BIT] = df, level, bool(mark & NAME_BIT)
    assert len(found) == len(table)
    return found


def summary_of(texts: list[tuple[Slot, corpus.Text]]) -> Said:
    """What documents say, by the slow and obvious way."""
    found = dict[Entry, tuple[int, int, bool]]()
    for slot, stem_class in {(slot, class_of(text.language)) for slot, text in texts}:
        summary = SlotSummary(slot)
        for text in [text for at, text in texts if at == slot and class_of(text.language) == stem_class]:
            fields = analyse(text)
            impacts = impacts_of(fields, bool(front_name(text.url)), NEWEST_RANKING, AVERAGE)
            summary.add(fields, stem_class, impacts)
        for term, each in summary.terms().items():
            entry = each.entry
            found[int(hashes_of([term])[0]), slot, stem_class] = entry.df, entry.level, entry.is_name
    return found


def made_of(texts: list[tuple[Slot, corpus.Text]]) -> OwnImpacts:
    impacts = OwnImpacts(NEWEST_RANKING, AVERAGE)
    for slot, text in texts:
        impacts.count(slot, decode_forward(encode_forward(text, analyse(text))), 1)
    impacts.settle()
    return impacts


def web(seed: int, count: int) -> list[tuple[Slot, corpus.Text]]:
    rng = random.Random(seed)
    return [(Slot(rng.randrange(8)), text) for text in corpus.web(rng, count)]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_table_says_what_the_documents_say(seed: int) -> None:
    texts = web(seed, 60)
    assert said_by(made_of(texts).news(ALL, 0)) == summary_of(texts)


def test_only_what_changed_is_news_and_what_is_gone_is_told() -> None:
    texts = web(3, 60)
    impacts = made_of(texts[:50])
    told = said_by(impacts.news(ALL, 0))
    assert not len(impacts.news(ALL, impacts.change)), "nothing has changed since"
    since, impacts.change = impacts.change, impacts.change + 1
    for slot, text in texts[50:]:
        impacts.count(slot, forward_of(text), 1)
    for slot, text in texts[:5]:
        impacts.count(slot, forward_of(text), -1)
    impacts.settle()
    news = said_by(impacts.news(ALL, since))
    wanted = summary_of(texts[5:])
    for entry, (df, level, is_name) in {**told, **news}.items():
        known = wanted.get(entry, (0, 0, False))
        assert df == known[0] and level >= known[1] and is_name >= known[2], "levels only rise"
    assert len(news) < len(wanted) / 2 and any(not df for df, _, _ in news.values())

    anew = made_of(texts[5:])
    since = impacts.change
    anew.follow(impacts)
    mended = said_by(anew.news(ALL, since))
    now = {entry: each for entry, each in {**told, **news, **mended}.items() if each[0]}
    assert now == wanted, "made anew, levels are no higher than they must be"
    assert mended and len(mended) < len(news)
    since = anew.change
    again = made_of(texts[5:])
    again.follow(anew)
    assert not len(again.news(ALL, since)), "what is said twice is no news"


def test_a_table_takes_what_is_news_and_forgets_what_is_gone() -> None:
    texts = web(4, 60)
    impacts = made_of(texts[:40])
    table, since, impacts.change = impacts.news(ALL, 0), impacts.change, impacts.change + 1
    for slot, text in texts[40:]:
        impacts.count(slot, forward_of(text), 1)
    for slot, text in texts[:10]:
        impacts.count(slot, forward_of(text), -1)
    whole = impacts.settle()
    table = table.replaced(impacts.news(ALL, since))
    assert said_by(table) == {entry: each for entry, each in said_by(whole).items() if each[0]}
    assert (np.diff(table.hashes.astype(np.float64)) >= 0).all()


def test_a_keeper_that_began_anew_is_told_all_again_and_one_without_room_later() -> None:
    peer, slots = NodeId(bytes(20)), [Slot(number) for number in range(8)]
    own, news = made_of(web(5, 40)), ImpactNews(1, 3, (5, 5))
    spoken = SpokenSlots(0.0, {slot: SlotCounts(slot, 9, (0, 0, 0, 9)) for slot in slots}, tuple(slots))

    def tell(keeper: RowKeeper) -> tuple[int, bool]:
        keeper.keep([(peer,)] * 8, peer)
        messages, change, is_told = news.messages(peer, slots, own, spoken), own.change, True
        own.change += 1
        for message in messages:
            is_told &= news.note_taken(peer, message, keeper.take(peer, message, 0.0), change)
        return sum(len(part.entries) for message in messages for part in message.parts), is_told

    first, other, small = RowKeeper(3, (5, 5)), RowKeeper(3, (5, 5)), RowKeeper(3, (5, 5), most_entries=9)
    size = len(own.settle()) * ENTRY_BYTES
    assert tell(first) == (size, True) and first.entries * ENTRY_BYTES == size
    assert tell(first) == (0, True), "nothing is new"
    assert tell(other) == (0, False), "it began anew, and says so"
    assert tell(other) == (size, True) and other.entries == first.entries
    assert tell(small) == (0, False)
    assert tell(small) == (size, True) and small.entries <= 9, "to hurry would be of no use"
