"""A verdict follows from what witnesses of a slot's panel said, whatever its order, and from nothing less."""

from collections.abc import Sequence
from random import Random

import pytest
from msgspec.structs import replace

from dht import Identity, Key, NodeId, placement_key
from node.witness.statement import (
    MAX_BOARD_BYTES,
    STATED_S,
    Statement,
    Witnessed,
    decode_board,
    encode_board,
    opened,
    point_of,
    sign_statement,
)
from node.witness.verdict import BARRED_S, disputed, judge

NOW = 1_767_300_000.0
AUTHOR = NodeId(b"a" * 20)
PANEL = tuple(NodeId(bytes([n]) * 20) for n in range(1, 6))
STRANGERS = tuple(NodeId(bytes([n]) * 20) for n in range(50, 60))
TRUTH, LIE, OTHER = (Random(n).randbytes(16) for n in (1, 2, 6))
NEAR = bytes([TRUTH[0] ^ 0b111]) + TRUTH[1:]  # what another visitor of the same page reads
DOMAINS = [f"site{n}.example" for n in range(9)]


def panels_of(key: Key) -> Sequence[Sequence[NodeId]]:
    return [PANEL]


def statement(site: str, number: int, **changes: object) -> Statement:
    made = Statement(
        placement_key(f"https://{site}/page"), 7, int(NOW * 1000) - 60_000, b"version!", site, bytes([9, 9, number]),
        LIE, TRUTH, int(NOW) - 30,
    )  # fmt: skip
    return replace(made, **changes)


def dispute(site: str, number: int, witnesses: Sequence[NodeId] = PANEL[:3], **changes: object) -> list[Witnessed]:
    return [Witnessed(witness, statement(site, number, **changes)) for witness in witnesses]


def sites(count: int) -> list[Witnessed]:
    return [said for n in range(count) for said in dispute(f"www.{DOMAINS[n]}", n)]


def verdict(said: Sequence[Witnessed]) -> object:
    return judge(AUTHOR, said, panels_of, NOW)


def test_five_sites_convict_and_four_never_do():
    found = judge(AUTHOR, sites(5), panels_of, NOW)
    assert found is not None
    assert found.author == AUTHOR and found.domains == tuple(DOMAINS[:5])
    assert found.since == int(NOW * 1000 - 60_000) / 1000 - STATED_S and found.at == int(NOW) - 30
    assert found.until == int(NOW) - 30 + BARRED_S
    many = [said for n in range(4) for page in range(30) for said in dispute(DOMAINS[n], n, digest=b"%8d" % page)]
    assert verdict(many) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_order_and_number_of_statements_says_nothing(seed: int):
    rng = Random(seed)
    said = sites(7) + dispute(DOMAINS[8], 8, PANEL[:2])
    first = verdict(said)
    again = said + rng.choices(said, k=20)
    rng.shuffle(again)
    assert first is not None and verdict(again) == first


@pytest.mark.parametrize(
    "spoiled",
    [
        {"text": LIE},  # it agrees with the author
        {"claimed": NEAR},
        {"at": int(NOW - STATED_S) - 60},
        {"at": int(NOW) + 3600},
        {"at_ms": int(NOW * 1000) + 900_000},  # written after it was read
        {"key": placement_key("https://elsewhere.example/")},
        {"block": b""},
    ],
)
def test_a_statement_that_is_old_or_says_nothing_counts_for_none(spoiled: dict[str, object]):
    assert verdict(sites(4) + dispute(DOMAINS[4], 4)) is not None
    assert verdict(sites(4) + dispute(DOMAINS[4], 4, **spoiled)) is None


def test_who_judges_late_judges_as_those_did_who_were_there():
    """Five sites within a week convict whoever reads of them while the verdict holds, and five of a month do not."""
    then = judge(AUTHOR, sites(5), panels_of, NOW)
    later = sites(5) + dispute(DOMAINS[8], 8, at=int(NOW + 2 * STATED_S))
    assert judge(AUTHOR, later, panels_of, NOW + 3 * STATED_S) == then
    assert judge(AUTHOR, later, panels_of, NOW + BARRED_S) is None
    seldom = [said for n in range(5) for said in dispute(DOMAINS[n], n, at=int(NOW + n * STATED_S / 3.9))]
    assert judge(AUTHOR, seldom, panels_of, NOW + 2 * STATED_S) is None, "no week has five"


def test_one_domain_or_one_block_counts_once():
    below = [said for n in range(5) for said in dispute(f"{'abcde'[n]}.{DOMAINS[0]}", n)]
    assert verdict(below) is None
    assert verdict([said for n in range(5) for said in dispute(DOMAINS[n], 1)]) is None
    assert verdict([*sites(4), *dispute(DOMAINS[4], 3)]) is None


def test_of_sites_that_share_domains_and_blocks_the_most_that_do_not_are_chosen():
    """A greedy choice by name takes (0, a) and misses that (0, b) leaves a to domain 1."""
    pairs = [(0, 0), (0, 1), (1, 0), (2, 2), (3, 3), (4, 4)]
    said = [s for domain, block in pairs for s in dispute(f"h{block}.{DOMAINS[domain]}", block)]
    assert verdict(said) is not None
    assert verdict([s for s in said if s.statement.site != f"h1.{DOMAINS[0]}"]) is None


def test_liars_below_a_majority_of_the_panel_convict_nobody():
    two = [said for n in range(9) for said in dispute(DOMAINS[n], n, (*PANEL[:2], *STRANGERS, AUTHOR))]
    assert verdict(two) is None
    torn = [said for n in range(9) for said in dispute(DOMAINS[n], n, PANEL[:2]) + dispute(DOMAINS[n], n, PANEL[2:4], text=OTHER)]  # fmt: skip  # noqa: E501
    assert verdict(torn) is None  # they do not agree with each other: the page shows each something else
    near = [said for n in range(5) for said in dispute(DOMAINS[n], n, PANEL[:2]) + dispute(DOMAINS[n], n, PANEL[2:3], text=NEAR)]  # fmt: skip  # noqa: E501
    assert verdict(near) is not None


def test_one_witness_that_names_another_block_for_every_site_makes_no_five_blocks_of_one():
    said = list[Witnessed]()
    for n in range(5):
        said += dispute(DOMAINS[n], 1, PANEL[:2]) + dispute(DOMAINS[n], n, PANEL[2:3])
    assert verdict(said) is None
    assert len(disputed(AUTHOR, said, panels_of, NOW)) == 5


def test_a_forged_statement_and_one_of_another_network_or_author_is_none():
    witness, network = Identity(b"\1" * 32), b"n" * 20
    signed = sign_statement(statement(DOMAINS[0], 1), witness, network, AUTHOR)
    assert opened(signed, network, AUTHOR) == Witnessed(witness.node_id, signed.statement)
    assert opened(signed, b"m" * 20, AUTHOR) is None
    assert opened(signed, network, NodeId(b"b" * 20)) is None
    assert opened(replace(signed, statement=statement(DOMAINS[1], 1)), network, AUTHOR) is None
    assert opened(replace(signed, witness=Identity(b"\2" * 32).public_key), network, AUTHOR) is None


def test_a_board_fits_a_small_record_and_all_witnesses_choose_the_same_for_it():
    made = [statement(f"{'x' * 20}{n}.example", n) for n in range(40)]
    same_place = [statement(f"y{n}.example", 3) for n in range(5)] + [replace(made[0], digest=b"another!")]
    old = statement(DOMAINS[0], 77, at=int(NOW - STATED_S) - 1)
    first, second = [*made, *same_place, old], [*same_place, *made[::-1], statement(DOMAINS[1], 78)]
    boards = [decode_board(encode_board(said, NOW)) for said in (first, second)]
    for said, board in zip((first, second), boards, strict=True):
        assert len(encode_board(said, NOW)) <= MAX_BOARD_BYTES
        assert len(board) >= 5 and len({s.site for s in board}) == len({s.block for s in board}) == len(board)
        assert old not in board
    assert len(set(boards[0]) & set(boards[1])) >= len(boards[0]) - 1
    assert decode_board(b"junk") == () == decode_board(b"")
    assert point_of(AUTHOR) != point_of(PANEL[0])


def test_the_three_must_be_of_one_panel():
    """One panel reaches IPv4 sites, one IPv6 sites: two of the one and one of the other are no majority of either."""
    apart = lambda key: [PANEL[:2], PANEL[2:]]  # noqa: E731
    assert disputed(AUTHOR, sites(5), panels_of, NOW) and not disputed(AUTHOR, sites(5), apart, NOW)
    beside = lambda key: [PANEL[1:4], PANEL[:3]]  # noqa: E731
    assert len(disputed(AUTHOR, sites(5), beside, NOW)) == 5
