"""Of an order of hits, copies are folded under the first, and ten results show at most three of a host."""

from collections import Counter
from random import Random

import pytest
from msgspec import structs

from dht import NodeId
from index.query.parser import parse_query
from index.results.near_copies import NEAR_BITS, NearIndex, are_near, likeness
from index.results.result_picker import MAX_ELSEWHERE, OF_ONE_HOST, TEN, PickedHit, names_site, pick, plainest
from index.results.top_k_merge import MergedHit
from index.shard.messages import HitRow

LONG = (0, 0, 0, 200)


def hit(
    number: int, host: int = 0, signature: bytes = b"", digest: int | None = None, first_seen: int = 0
) -> MergedHit:
    said = (number if digest is None else digest).to_bytes(16, "big")
    row = HitRow(number.to_bytes(20, "big"), bytes(20), bytes(32), said, 999.0 - number, (), LONG, 0)
    changes = {"host": host.to_bytes(8, "big"), "signature": signature, "first_seen": first_seen}
    return MergedHit(type(row)(*(changes.get(name, getattr(row, name)) for name in row.__struct_fields__)), NodeId(b""))


def believe(one: HitRow, other: HitRow) -> bool:
    return True


def number_of(found: MergedHit) -> int:
    return int.from_bytes(found.hit.id, "big")


def flipped(signature: bytes, bits: int, rng: Random) -> bytes:
    number = int.from_bytes(signature, "big")
    for bit in rng.sample(range(128), bits):
        number ^= 1 << bit
    return number.to_bytes(16, "big")


def numbers_of(picked: list[PickedHit]) -> list[int]:
    return [number_of(each.found) for each in picked]


def test_each_ten_results_have_three_of_a_host_while_others_follow_and_nothing_is_lost() -> None:
    rng = Random(1)
    order = [hit(number, host=rng.choice([1, 1, 1, 1, 2, 3, 4, 5])) for number in range(200)]
    picked = pick(order, believe, 200)
    for start in range(0, len(picked), TEN):
        ten = picked[start : start + TEN]
        hosts = Counter(each.found.hit.host for each in ten if not each.is_filling)
        assert max(hosts.values()) <= OF_ONE_HOST
        left = {each.found.hit.host for each in picked[start + TEN :]}
        assert not any(each.is_filling for each in ten) or all(hosts[host] == OF_ONE_HOST for host in left)
    assert sorted(numbers_of(picked)) == list(range(200))
    for enough in (5, 20, 27):
        assert numbers_of(pick(order, believe, enough)) == numbers_of(picked[:enough])


def test_pages_of_one_host_or_of_three_are_full() -> None:
    assert numbers_of(pick([hit(number) for number in range(30)], believe, 20)) == list(range(20))
    of_three = [hit(number, host=number // 20) for number in range(60)]
    assert numbers_of(pick(of_three, believe, 20)) == [
        *(0, 1, 2, 20, 21, 22, 40, 41, 42, 3),
        *(4, 5, 6, 23, 24, 25, 43, 44, 45, 7),
    ]


def test_results_that_depend_on_what_may_follow_are_left_out() -> None:
    order = [hit(number) for number in range(9)] + [hit(9, host=1)]
    assert numbers_of(pick(order, believe, 10, is_whole=False)) == [0, 1, 2, 9]


def test_a_page_of_one_host_shows_all_where_a_site_was_asked_for() -> None:
    order = [hit(number) for number in range(30)]
    order += [hit(number, host=number) for number in range(30, 40)]
    assert numbers_of(pick(order, believe, 10)) == [0, 1, 2, 30, 31, 32, 33, 34, 35, 36]
    assert numbers_of(pick(order, believe, 10, is_crowded=False)) == list(range(10))
    assert names_site(parse_query("run site:a.example")) and names_site(parse_query("run", site="a.example"))
    assert not names_site(parse_query("run -site:a.example"))


def test_a_copy_is_folded_under_the_first_that_is_shown() -> None:
    order = [hit(0, digest=7), hit(1), hit(2), hit(3, digest=8), hit(4, host=2, digest=8), hit(5, host=3, digest=7)]
    picked = pick(order, believe, 10)
    assert numbers_of(picked) == [0, 1, 2, 4]  # 3 was passed over when 4 was shown
    assert [[number_of(each) for each in group.similar] for group in picked] == [[5], [], [], [3]]


def test_whoever_was_seen_first_is_shown_in_the_place_of_a_better_placed_copy() -> None:
    copy, original, unknown = (
        hit(0, 1, digest=7, first_seen=200),
        hit(2, 2, digest=7, first_seen=100),
        hit(3, 3, digest=7),
    )
    (picked, other) = pick([copy, hit(1, 4), original, unknown], believe, 10)
    assert (number_of(picked.original), number_of(other.original)) == (2, 1)
    assert list(map(number_of, picked.copies)) == [0, 3]
    (same, *_) = pick([copy, unknown, hit(2, 2, digest=7, first_seen=200)], believe, 10)
    assert number_of(same.original) == 0, "of one day the better one stands"
    strangers = [MergedHit(structs.replace(original.hit, foreign=1), original.peer), copy]
    assert number_of(pick(strangers, believe, 10)[0].original) == 0, "the later copy, in the asker's language"
    far = pick([copy, *(hit(n, n + 9) for n in range(1, 10)), hit(10, 2, digest=7, first_seen=100)], believe, 10)
    assert number_of(far[0].original) == 0, "an answer of few results may not have the eleventh hit"


def test_of_copies_as_old_as_each_other_the_plainest_address_is_shown() -> None:
    order = [hit(n, n, digest=7, first_seen=100) for n in range(3)] + [hit(3, 3, digest=7, first_seen=101)]
    (picked,) = pick(order, believe, 10)
    ids = [each.hit.id for each in order]

    def shown(*urls: str, first: int = 4) -> int:
        return number_of(plainest(picked, ids[:first], dict(zip(ids, urls, strict=False))))

    cdn, www, home = "http://cdn.a.example/index.html", "http://www.a.example/index.html", "http://www.a.example/"
    assert shown(cdn, www) == 1 and shown(cdn, www, home) == 2 and shown(home, cdn, www) == 0
    assert shown(cdn, "http://b.example/") == 0, "a stranger's copy stands where it is"
    assert shown(cdn, cdn, cdn, home) == 0, "a younger copy is never shown"
    assert shown(cdn, www, home, first=1) == 0, "other answers may not have the second hit"


def test_who_has_the_last_word_may_say_that_a_copy_is_none() -> None:
    order = [hit(0, host=1, digest=7), hit(1, host=2, digest=7), hit(2, host=1, digest=7)]
    picked = pick(order, lambda one, other: one.host == other.host, 10)
    assert [[number_of(each) for each in group.similar] for group in picked] == [[2], []]


def test_a_result_stands_for_so_many_pages_of_other_hosts_and_no_more() -> None:
    order = [hit(number, host=number, digest=7) for number in range(MAX_ELSEWHERE + 3)]
    picked = pick(order, believe, 100)
    assert [len(each.similar) for each in picked] == [MAX_ELSEWHERE, 1]


def test_pages_whose_titles_differ_in_a_number_or_in_a_word_of_the_query_are_not_folded() -> None:
    alike = hit(0, signature=b"s" * 16).hit
    asked, other = ((2, 0, 0, 9),), ((0, 0, 0, 9),)
    for number, (tfs, numbers, digest, is_folded) in enumerate(
        [(asked, 7, 1, True), (other, 7, 1, False), (asked, 8, 1, False), (other, 8, 0, True)]
    ):
        marks = {"id": bytes([number + 1] * 20), "digest": bytes([digest] * 16)}
        row = structs.replace(alike, **marks, tfs=tfs, title_numbers=numbers)
        first = structs.replace(alike, digest=bytes(16), tfs=asked, title_numbers=7)
        picked = pick([MergedHit(each, NodeId(b"")) for each in (first, row)], believe, 10)
        assert len(picked) == (1 if is_folded else 2), number


@pytest.mark.parametrize("seed", range(5))
def test_the_index_of_near_marks_finds_what_comparing_all_finds(seed: int) -> None:
    rng = Random(seed)
    base = [rng.randbytes(16) for _ in range(5)]
    known, index = [], NearIndex()
    for number in range(120):
        signature = flipped(rng.choice(base), rng.randint(0, NEAR_BITS), rng) if rng.random() < 0.9 else b""
        row = hit(number, signature=signature, digest=rng.randrange(60)).hit
        assert list(index.near(row)) == [
            place for place, each in enumerate(known) if are_near(likeness(each, each.tfs), likeness(row, row.tfs))
        ]
        known.append(row)
        index.add(row)
