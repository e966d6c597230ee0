"""A status of any age is readable: fields may be missing, new, or of another kind."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.views.peers import peer_rows
from node.views.status import size, view_of
from node.web.rendering.translations import translator
from tests.node.bodies import junk

JUNK = junk()
KEYS = st.sampled_from(
    [
        *("node_id", "peers", "slots", "documents", "settled", "crawl", "strategy"),
        *("disk", "copies", "scrub", "network", "search", "refuted_peers", "possession"),
    ]
)


@given(st.dictionaries(KEYS, JUNK, max_size=9))
@settings(max_examples=200, deadline=None)
def test_no_status_is_too_strange(status: dict[str, object]) -> None:
    view = view_of(status)
    assert 0 <= view.disk_share <= 1 or view.disk_used < 0
    assert view.nodes >= 1 or "peers" in status


def test_what_is_there_is_read() -> None:
    view = view_of({"members": 7, "documents": 12, "network": "home", "crawl": {"state": "idle", "open": 3}})
    assert (view.nodes, view.documents, view.network_documents, view.network) == (7, 12, 0, "home")
    assert not view.is_crawling


def test_what_the_crawler_refused_is_one_line_with_the_commonest_reasons_first() -> None:
    refused = {"address": 2, "scope": 1812, "robots": 40, "depth": 0, "\x1b[31m": 41, "type": 1}
    assert view_of({"crawl": {"refused": refused}}).not_taken == "1,812 scope, 41 [31m, 40 robots, 2 address"
    assert view_of({"crawl": {"refused": [3]}}).not_taken == ""


def test_the_copies_of_slots_are_one_line() -> None:
    copies = {"least": 1, "slots": {"3": 60, "1": 2, "x": 4}, "oldest_s": 720, "kept": 0, "copying": 7}
    line = "1 of 2 slots, 3 of 60 slots; some too few for 12 min; 0 slots kept for silent owners, 7 being copied"
    assert view_of({"copies": copies}).copies == line and view_of({"copies": {"slots": 3}}).copies == ""
    copies = {
        "least": 0,
        "mean": 2.94,
        "slots": {"3": 9, "0": 1},
        "oldest_s": 60,
        "oldest_slot": 0,
    }
    view = view_of({"copies": copies})
    assert view.copies == ("0 of 1 slot, 3 of 9 slots, average 2.9; some too few for 1 min, slot 0 for longest")
    assert (view.slots_by_copies, view.copies_mean, view.too_few_s) == (((0, 1), (3, 9)), 2.94, 60)


@pytest.mark.parametrize(
    ("more", "english", "chinese"),
    [
        ({}, "62% read since 2023-11-14", "自 2023-11-14 起已校验 62%"),
        (
            {"ended_at": 1_700_000_000, "lost": 3, "healed": 2},
            "62% read since 2023-11-14, all of it before 2023-11-14; 3 damaged records since the start, "
            "2 fetched again from others",
            "自 2023-11-14 起已校验 62%，上一轮完整校验于 2023-11-14 结束；"
            "启动以来有 3 条记录损坏，其中 2 条已从其他节点重新取回",
        ),
        (
            {"asked_at": 1_700_000_000, "read_at": 0},
            "62% read since 2023-11-14, at full speed, as requested",
            "自 2023-11-14 起已校验 62%（应要求立即校验）",
        ),
        (
            {"asked_at": 1_700_000_000, "read_at": 1_700_000_000, "lost": 1},
            "62% read since 2023-11-14, as requested; 1 damaged record since the start, 0 fetched again from others",
            "自 2023-11-14 起已校验 62%（应要求）；启动以来有 1 条记录损坏，0 条已从其他节点重新取回",
        ),
        ({"begun_at": 0}, "", ""),
        ({"begun_at": "x"}, "", ""),
    ],
)
def test_how_far_the_check_of_the_disk_is_can_be_said_in_either_language(more: Any, english: str, chinese: str) -> None:
    scrub = {"begun_at": 1_700_000_000, "share": 0.62, "ended_at": 0, "lost": 0, **more}
    for tongue, line in (("en", english), ("zh", chinese)):
        t = translator("zh" if tongue == "zh" else "en")
        assert "".join(t(key, None, **values) for key, values in view_of({"scrub": scrub}).scrub) == line


def test_the_rules_of_search_are_one_line() -> None:
    beside = [{"analyzer": 5, "share": 0.433, "answers": False}, {"analyzer": 3, "answers": True}]
    search = {"analyzer": 4, "ranking": 2, "beside": beside}
    line = "analyzer 4, ranking 2; analyzer 5 is built, 43%; analyzer 3 answers, too"
    assert view_of({"search": search}).rules == line and view_of({}).rules == ""


def test_whose_copies_do_not_count_is_named_and_what_a_peer_showed_is_one_line() -> None:
    (line,) = view_of({"possession": {"doubted": ["ab" * 20]}}).warnings
    assert line == "peer abababababab does not show records that it should have: they are copied elsewhere"
    assert not view_of({"possession": {"doubted": 3}}).warnings
    said = {"challenged": 48, "answered": 47, "failed": 1, "silent": 2}
    rows = peer_rows([{"possession": said}, {"possession": {"challenged": 16, "answered": 16}}, {"possession": 3}])
    wanted = ["47 of 48 records shown, 1 missing twice, 2 challenges not answered", "16 of 16 records shown", ""]
    assert [row.possession for row in rows] == wanted


def test_who_is_avoided_is_named_and_who_was_or_is_merely_behind_is_not() -> None:
    told = {"peer": "ab" * 20, "reason": "other numbers of slot 3", "avoided": True, "behind": False}
    others = [told | {"peer": "cd" * 20, "behind": True}, told | {"peer": "ef" * 20, "avoided": False}]
    (line,) = view_of({"refuted_peers": [*others, told, told]}).warnings
    assert line == "peer abababababab is avoided: it said other numbers of slot 3"


def test_sizes_are_readable() -> None:
    assert [size(n) for n in (0, 999, 1500, 250_000_000, 3e12)] == ["0 B", "999 B", "1.5 kB", "250 MB", "3.0 TB"]


def test_peers_of_either_shape_become_rows() -> None:
    rows = peer_rows([{"node_id": "ab", "endpoints": [{"host": "::1", "udp_port": 1}], "ready": [1, 2]}, {"ready": 3}])
    assert rows[0].endpoints == ("[::1]:1",)
    assert [row.ready for row in rows] == [2, 3]
    assert rows[0].heard_s is None


def test_a_peer_whose_clock_is_off_is_told_apart() -> None:
    rows = peer_rows([{"clock_off_s": off_s} for off_s in (3600.4, -40.0, 9.9, None, "x")])
    assert [row.clock for row in rows] == ["clock 3600 s ahead", "clock 40 s behind", "", "", ""]
