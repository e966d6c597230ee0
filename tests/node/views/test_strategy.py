"""Lines for people: what differs, what moves, what was; whatever a stranger's node answers."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.views.strategy import admission_words, change_lines, effect_lines, instant, log_lines, rule_words, span
from node.web.rendering.translations import translator

ENGLISH, CHINESE = translator("en"), translator("zh")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 60), 1 << 60) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["fields", "rules", "parts", "copies", "hosts", "notes", "bytes", "versions", "denied", "denied_urls"]
TABLES = st.lists(st.dictionaries(st.sampled_from(KEYS), JSON), max_size=3)


def test_entries_of_lists_are_words_and_no_values_of_a_program() -> None:
    change = {"field": "gone", "before": (), "after": ({"id": "5f7f", "at": 1_795_269_501},)}
    said = list(change_lines({"fields": [change]}, ENGLISH))
    assert said == [("+ gone", "id 5f7f, at 2026-11-21 13:58 UTC")]


def test_changes_read_as_before_and_after() -> None:
    changes = {
        "fields": [
            {"field": "replicas", "before": 3, "after": 4},
            {"field": "effective_at", "before": 1_795_269_389, "after": 1_795_269_501},
            {"field": "publishers", "before": ["aa", "bb"], "after": ["bb", "cc"]},
        ],
        "rules": [{"change": "added", "number": 1, "rule": {"action": "deny", "host": "*.bad.test"}}],
    }
    assert list(change_lines(changes, ENGLISH)) == [
        ("replicas", "3 → 4"),
        ("effective_at", "2026-11-21 13:56 UTC → 2026-11-21 13:58 UTC"),
        ("- publishers", "aa"),
        ("+ publishers", "cc"),
        ("+ rule 1", "deny *.bad.test"),
    ]
    assert list(change_lines({}, ENGLISH)) == [("nothing", "both say the same")]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"action": "owners", "host": "a.test", "max_depth": 3, "min_delay_s": 5.0}, "at most 3 links deep"),
        ({"action": "prefer", "host": "a.test", "peer": "ab" * 20}, "node abababababababab fetches a.test"),
        (
            {"action": "only", "prefixes": ["10.20.0.0/16", "2001:db8::/48"]},
            "fetch every host only at addresses in 10.20.0.0/16, 2001:db8::/48",
        ),
        ({"action": "never", "host": "a.test", "prefixes": ["192.0.2.0/24"]}, "fetch a.test never at addresses in 192"),
        ({"action": "spread", "host": "a.test", "depth": 3}, "spread over 8 places a.test"),
        ({"action": "deny", "pattern": "x\x1b[31m"}, "deny every host · pattern x[31m"),
        ({"action": "deny", "slots": [1, 9]}, "slots 1 to 9"),
    ],
)
def test_a_rule_reads_as_one_line(rule: dict[str, Any], words: str) -> None:
    assert words in rule_words(rule, ENGLISH)


def test_changes_and_effect_are_chinese_for_a_chinese_reader_but_for_names_and_figures() -> None:
    changes = {
        "fields": [{"field": "publishers", "before": ["aa", "bb"], "after": ["bb", "aa"]}],
        "rules": [
            {"change": "added", "number": 1, "rule": {"action": action, **about}}
            for action, about in (
                ("deny", {"host": "a.test", "pattern": "x", "slots": [1, 9], "max_depth": 3, "min_delay_s": 5.0}),
                ("owners", {}),
                ("prefer", {"peer": "ab" * 20}),
                ("spread", {"depth": 3}),
                ("only", {"prefixes": ["10.0.0.0/8"] * 5}),
                ("never", {"prefixes": ["10.0.0.0/8"]}),
                ("unknown", {}),
            )
        ],
    }
    hosts: dict[str, Any] = dict.fromkeys(("urls", "denied_urls", "denied_hosts", "allowed_urls"), 7)
    hosts |= {"denied": [{"host": "a.test", "rule": 1}], "fetched_by_others_hosts": 2, "fetched_by_others": [{}]}
    moved = dict.fromkeys(("moved", "counted", "reported", "estimated"), 9)
    effect: dict[str, Any] = {"stay": [], "lost": [{"node": "ab", "reason": "-"}] * 51, "copies": {"without": 1}}
    effect |= {"documents": moved, "hosts": hosts}
    lines = [*change_lines(changes, CHINESE), *change_lines({}, CHINESE), *effect_lines(effect, CHINESE)]
    said = " ".join(text for line in lines for text in line)
    for name in ("publishers", "a.test", "ab" * 8, "ab", "aa", "bb", "x", "None"):
        said = re.sub(rf"\b{re.escape(name)}\b", "", said)
    assert not re.findall("[A-Za-z]+", said)


def test_a_log_shows_forks_with_both_digests() -> None:
    entry = {
        "version": 2,
        "digest": "ab" * 32,
        "signed_by": ["cd" * 32],
        "effective_at": 1_795_269_389,
        "changes_publishers": True,
        "publishers": ["x", "y"],
        "threshold": 2,
        "in_force": True,
        "forks": ["ef" * 32],
    }
    first, second = log_lines({"versions": [entry]})
    assert "2  abababababababab  2026-11-21 13:56 UTC  signed by cdcdcdcdcdcdcdcd" in first
    assert "(in force; publishers from here on: 2 of 2)" in first
    assert "efefefefefefefef  fork" in second


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), JSON | TABLES), st.data())
def test_nothing_that_a_node_answers_breaks_the_lines(body: dict[str, Any], data: st.DataObject) -> None:
    t = data.draw(st.sampled_from([ENGLISH, CHINESE]))
    for line in [
        *log_lines(body),
        *(text for pair in [*change_lines(body, t), *effect_lines(body, t)] for text in pair),
    ]:
        assert "\n" not in line and "\x1b" not in line


def test_times() -> None:
    assert (instant(0), instant("x"), instant(1e300)) == ("-", "-", "-")
    assert [span(s) for s in (5, 300, 7200, 200_000)] == ["5 s", "5 min", "2 h", "2 days"]


def test_a_rule_of_admission_that_is_not_known_reads_as_the_one_that_is_applied() -> None:
    assert admission_words(None) == admission_words("attested") == "nodes that other members have reached"
    assert admission_words("vouched-by-three") == admission_words("invited") != admission_words("attested")
    assert admission_words("invited") == "nodes that were invited and that other members have reached"
