"""Sentences about rules that cannot work: each names the rule, the node and the reason."""

import pytest
from msgspec.structs import replace

from dht import BadStrategy, Gone, Rule, Strategy
from node.strategy.draft import DraftRequest, draft
from node.strategy.rule_notes import rule_notes

A, B = "aa" * 20, "bb" * 20
NAME = Rule(action="prefer", host="a.test", peer=A)


def strategy(*rules: Rule) -> Strategy:
    key = "cc" * 32
    fields = {"network": "ab" * 20, "version": 1, "effective_at": 0, "next_at": 1, "expires_at": 2}
    return Strategy(**fields, rules=rules, publishers=(key,))  # type: ignore[arg-type]


def test_a_name_that_works_is_not_worth_a_word() -> None:
    assert list(rule_notes(strategy(NAME, Rule(action="deny", host="b.test")))) == []


@pytest.mark.parametrize(
    "before",
    [
        Rule(action="deny", host="a.test"),
        Rule(host="*.test", min_delay_s=5),
        Rule(min_delay_s=5),
        Rule(action="spread", host="*.a.test", depth=1),
    ],
)
def test_a_name_behind_a_rule_that_decides_the_same_urls(before: Rule) -> None:
    assert list(rule_notes(strategy(before, NAME))) == [
        f"rule 2 names node {A[:12]}, and rule 1 decides the same URLs before it"
    ]


@pytest.mark.parametrize(
    "before",
    [
        Rule(action="deny", host="a.test", pattern="/x"),
        Rule(host="a.test", slots=(0, 3)),
        Rule(action="deny", host="*.b.test"),
        Rule(action="unknown"),
    ],
)
def test_a_name_behind_a_rule_that_leaves_it_some_urls(before: Rule) -> None:
    assert list(rule_notes(strategy(before, NAME))) == []


def test_a_name_put_before_a_rule_that_spreads_the_same_host_is_said() -> None:
    rules = NAME, Rule(action="spread", host="a.test", depth=2)
    assert list(rule_notes(strategy(*rules))) == ["rule 2 spreads a.test, and rule 1 decides the same URLs before it"]


def test_a_rule_that_lets_a_denied_host_be_crawled_again_is_said() -> None:
    slow, denied = Rule(host="a.test", min_delay_s=5), Rule(action="deny", host="a.test", pattern="/private/")
    assert list(rule_notes(strategy(slow, denied))) == [
        "rule 2 denies /private/, and rule 1 decides the same URLs before it"
    ]
    assert list(rule_notes(strategy(denied, slow))) == []
    assert list(rule_notes(strategy(Rule(action="deny", host="a.test"), denied))) == [], "it is denied all the same"


def test_a_wider_name_is_not_shadowed_by_a_narrower_host() -> None:
    wide = Rule(action="prefer", host="*.a.test", peer=A)
    assert list(rule_notes(strategy(Rule(action="deny", host="a.test"), wide))) == []
    assert list(rule_notes(strategy(Rule(action="deny", host="a.test"), replace(wide, host=None)))) == []


def test_who_is_kept_out_or_not_there_is_said_with_what_happens_instead() -> None:
    blocked = replace(strategy(NAME), blocked=(A,))
    assert list(rule_notes(blocked)) == [
        f"rule 1 names node {A[:12]}, which this version blocks: the holders fetch for themselves"
    ]
    assert "calls gone" in next(rule_notes(replace(strategy(NAME), gone=(Gone(A, 5),))))
    said = list(rule_notes(strategy(NAME), lambda node, host: f"is away ({host})" if node == A else ""))
    assert said == [f"rule 1 names node {A[:12]}, which is away (a.test): the holders fetch for themselves"]


def test_a_draft_names_nobody_whom_it_keeps_out_and_blocks_whom_an_old_rule_names() -> None:
    with pytest.raises(BadStrategy, match="which this version blocks"):
        draft(strategy(), "00" * 32, DraftRequest({}, rules=[NAME], block=[A]), 100)
    with pytest.raises(BadStrategy, match="which this version calls gone"):
        draft(strategy(), "00" * 32, DraftRequest({}, rules=[NAME], gone=[A]), 100)
    assert draft(strategy(NAME), "00" * 32, DraftRequest({}, block=[A]), 100).rules == (NAME,)


def by_address(action: str, *prefixes: str, host: str | None = None) -> Rule:
    return Rule(action=action, prefixes=prefixes, host=host)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ((by_address("only", "8.0.0.0/8"), by_address("never", "8.8.0.0/16")), []),
        ((by_address("only", "8.0.0.0/8"), by_address("only", "8.8.0.0/16", host="a.test")), []),
        (
            (by_address("only", "8.8.0.0/16", "2600::/16"), by_address("never", "8.0.0.0/8", "2600::/12")),
            ["rules 1 and 2 leave no address for any host: nothing is fetched"],
        ),
        (
            (by_address("only", "8.0.0.0/8"), by_address("only", "9.0.0.0/8", host="a.test")),
            ["rules 2 and 1 leave no address for a.test: nothing is fetched"],
        ),
        (
            (by_address("only", "10.20.0.0/16"),),
            ["rule 1 leaves private addresses alone: nodes need crawl.allow_private to fetch from them"],
        ),
        ((by_address("only", "10.20.0.0/16", "8.0.0.0/8"), by_address("never", "10.0.0.0/8")), []),
    ],
)
def test_prefixes_that_leave_nothing_are_said(rules: tuple[Rule, ...], said: list[str]) -> None:
    assert list(rule_notes(strategy(*rules))) == said
