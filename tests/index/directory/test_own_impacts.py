"""What a node says of its own documents is what they are, its numbers stay within an epoch, and only what is new to a
keeper is told, over restarts of both."""

import random
from collections.abc import Sequence

import index_corpus as corpus
import msgspec
import pytest
from msgspec.structs import replace

from dht import BadMessage, NodeId, Slot
from index.directory.impact import impacts_of
from index.directory.impact_news import ImpactNews, SpokenSlots
from index.directory.impact_pack import count_of
from index.directory.impact_table import NAME_BIT, ImpactTable, hashes_of
from index.directory.messages import AskRows, TellLevels
from index.directory.own_impacts import PAGE_BYTES, MadeTable, OwnImpacts
from index.directory.row_keeper import REFRESH_S, RowKeeper
from index.directory.term_row import SlotSummary
from index.directory.weighed_owners import FRESH_S
from index.directory.witness_check import SeenPage
from index.query.ranking_rules import NEWEST_RANKING
from index.query.search_rules import NEWEST_RULES
from index.text.field_terms import analyse
from index.text.forward_index import decode_forward, encode_forward
from index.text.site_host import front_name
from index.text.stem_classes import CLASSES, class_of

AVERAGE, SLOTS, BITS = 60.0, tuple(map(Slot, range(8))), 3
Entry = tuple[int, int, int]  # hash, slot, class
Said = dict[Entry, tuple[int, int, bool]]
Web = list[tuple[Slot, corpus.Text]]


def said_by(table: ImpactTable) -> Said:
    found = dict[Entry, tuple[int, int, bool]]()
    for term, (df, slot, level, mark) in zip(table.hashes.tolist(), table.words.tolist(), strict=True):
        found[term, slot, mark & ~NAME_BIT] = df, level, bool(mark & NAME_BIT)
    assert len(found) == len(table)
    return found


def news(impacts: OwnImpacts, since: int = 0) -> Said:
    impacts.settle()
    return said_by(impacts.news(SLOTS, BITS, [since] * len(SLOTS))[0])


def summary_of(texts: Web) -> Said:
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


def count(impacts: OwnImpacts, texts: Web, sign: int = 1) -> None:
    for slot, text in texts:
        impacts.count(slot, text.id, decode_forward(encode_forward(text, analyse(text))), sign)


def made_of(texts: Web, run: int = 1, slots: Sequence[Slot] = SLOTS) -> OwnImpacts:
    impacts = OwnImpacts(NEWEST_RANKING, MadeTable(run, 0, AVERAGE), {})
    count(impacts, texts)
    impacts.finish(0.0, {slot: (sum(at == slot for at, _ in texts), (0, 0, 0, 0)) for slot in slots})
    return impacts


def web(seed: int, count: int) -> Web:
    rng = random.Random(seed)
    return [(Slot(rng.randrange(8)), text) for text in corpus.web(rng, count)]


@pytest.mark.parametrize(("seed", "block"), [(1, 4096), (2, 16)])
def test_the_table_says_what_the_documents_say(seed: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("index.directory.block_table.BLOCK_ENTRIES", block)
    texts = web(seed, 60)
    impacts = OwnImpacts(NEWEST_RANKING, MadeTable(1, 0, AVERAGE), {})
    for begin in range(0, 60, 7):
        count(impacts, texts[begin : begin + 7])
        impacts.settle()
    count(impacts, texts[:3], -1)
    count(impacts, texts[:3])
    assert news(impacts) == summary_of(texts) and len(impacts) == len(summary_of(texts))


def test_once_it_is_made_only_levels_rise_and_only_what_changed_is_news() -> None:
    texts = web(3, 60)
    impacts = made_of(texts[:50])
    told, since = news(impacts), impacts.made.change
    assert not news(impacts, since), "nothing has changed since"
    count(impacts, texts[:5], -1)
    count(impacts, texts[:20], 0)
    assert not news(impacts, impacts.made.change), "what goes, and what is read again, is no news"
    count(impacts, texts[50:])
    changed, wanted = news(impacts, since), summary_of(texts)
    assert 0 < len(changed) < len(wanted) / 2 and impacts.made.documents == 50
    for entry, (_, level, is_name) in wanted.items():
        assert (told | changed)[entry] == (told.get(entry, (0, 0, False))[0], level, is_name)


def test_each_level_has_a_witness_that_has_it_whatever_came_and_went() -> None:
    texts = web(7, 60)
    impacts = made_of(texts[:50])
    count(impacts, texts[:9], -1)
    count(impacts, texts[50:])
    said, pages = news(impacts), {text.id[:PAGE_BYTES]: text for _, text in texts}
    for (term, slot, _), (_, level, _) in sorted(said.items())[::20]:
        page = pages[impacts.witness(Slot(slot), term)] if level else None
        own = max(said.get((term, slot, stem_class), (0, 0, False))[1] for stem_class in range(len(CLASSES)))
        seen = SeenPage(page, term, NEWEST_RULES).level_by(AVERAGE)[0] if page else 0
        assert seen == own or not level
    assert impacts.witness(Slot(0), 1) == b"", "no document has such a term"


def test_of_slots_that_came_later_documents_are_counted() -> None:
    texts = web(4, 60)
    early, late = [each for each in texts if each[0] < 4], [each for each in texts if each[0] >= 4]
    impacts = made_of(early, slots=SLOTS[:4])
    count(impacts, late)
    assert news(impacts) == summary_of(texts)


def test_a_keeper_that_began_anew_is_told_all_again_and_one_without_room_later() -> None:
    peer, own, spoken = NodeId(bytes(20)), made_of(web(5, 40)), SpokenSlots(0.0, SLOTS)
    told = ImpactNews(BITS, (5, 5))

    def keeper(
        blocks: dict[int, dict[int, bytes]], noted: bytes = b"", sets: bytes = b"", most: int = 1 << 20
    ) -> RowKeeper:
        made = RowKeeper(BITS, (5, 5), lambda slot: blocks.setdefault(slot, {}), noted, sets, most)
        made.keep([(peer,)] * 8, peer)
        return made

    def tell(keeper: RowKeeper) -> tuple[int, bool]:
        sent = list[TellLevels]()
        for message in told.messages(peer, SLOTS, own, spoken):
            sent.append(message)
            taken = keeper.take(peer, message, 0.0)
        return sum(count_of(each.entries) for each in sent), told.note_taken(peer, own.made.run, sent, taken)

    blocks = dict[int, dict[int, bytes]]()
    first, other, small = keeper(blocks), keeper({}), keeper({}, most=9)
    size = len(own)
    assert tell(first) == (0, False), "it is asked first what it has"
    assert tell(first) == (size, True) and first.entries == size
    assert tell(first) == (0, True), "nothing is new"
    noted = first.note()
    for slot in SLOTS:
        first.settle(slot)
    sets = first.note_sets()
    count(own, web(6, 3))
    own.settle()
    assert 0 < tell(first)[0] < size / 4 and first.entries > size
    again = keeper(blocks, noted, sets)
    told = ImpactNews(BITS, (5, 5))
    assert again.entries == size and tell(again) == (0, False), "what came after it was put on disk is told again"
    assert 0 < tell(again)[0] < size / 4 and again.entries == first.entries and tell(again) == (0, True)
    assert tell(other) == (0, False), "it has nothing, and says so"
    assert tell(other) == (len(own), True) and other.entries == len(own)
    assert tell(small)[1] is False
    assert tell(small) == (len(own), True) and small.entries <= 9, "to hurry would be of no use"


def test_slots_that_a_keeper_knows_are_named_by_a_digest_and_told_again_once_it_knows_others() -> None:
    peer, own = NodeId(bytes(20)), made_of(web(5, 40))
    told, keeper = ImpactNews(BITS, (5, 5)), RowKeeper(BITS, (5, 5), lambda slot: {})
    keeper.keep([(peer,)] * 8, peer)

    def tell(slots: tuple[Slot, ...] = SLOTS, at: float = 0.0, *, is_old: bool = False) -> tuple[TellLevels, bool]:
        (sent,) = told.messages(peer, SLOTS, own, SpokenSlots(at, slots, slots[:1]))
        taken = keeper.take(peer, sent, at)
        taken = replace(taken, known_slots=b"") if is_old else taken
        return sent, told.note_taken(peer, own.made.run, [sent], taken)

    def unknown_at(at: float) -> tuple[int, ...]:
        return keeper.rows(AskRows(BITS, 5, 5, (bytes(8),)), at).unknown

    first, _ = tell()
    assert first.slots == SLOTS and tell()[1], "it is asked first what it knows"
    again, is_done = tell(at=9.0)
    assert again.slots == () and is_done and unknown_at(9.0) == SLOTS[:1], "it speaks of all, and is behind in one"
    assert len(msgspec.msgpack.encode(again)) < 100
    fewer, is_done = tell(SLOTS[1:], 19.0)
    assert fewer.slots == SLOTS[1:] and is_done and unknown_at(19.0) == SLOTS[:2], "of the first it says no more"
    keeper.take(peer, first, 19.0)  # it comes late, and twice
    late = 19.0 + FRESH_S
    asked, is_done = tell(SLOTS[1:], late)
    assert asked.slots == () and not is_done, "it is not understood, and that is said"
    with pytest.raises(BadMessage, match="too few owners"):
        unknown_at(late)
    repeated, is_done = tell(SLOTS[1:], late)
    assert repeated.slots == SLOTS[1:] and is_done and unknown_at(late + REFRESH_S) == SLOTS[:2]
    assert tell(SLOTS[1:], late, is_old=True)[0].slots == ()
    assert tell(SLOTS[1:], late)[0].slots == SLOTS[1:], "who does not say what it knows hears all"
