"""Figures of a change, by how well they are known."""

from msgspec.structs import replace

from dht import NodeId, Rule, Slot, SlotMove, Strategy
from node.strategy.impact import HostEffect, KnownContents, SlotContents, changes_json, moved

A, B, C = (NodeId(bytes([n]) * 20) for n in range(3))


def strategy(*rules: Rule) -> Strategy:
    return Strategy(network="00", version=1, effective_at=0, next_at=1, expires_at=1, rules=rules)


def test_copies_are_counted_by_who_knows_them() -> None:
    placement_diff = [
        SlotMove(Slot(0), (A,), (A,)),
        SlotMove(Slot(1), (A,), (B,)),
        SlotMove(Slot(2), (A,), (B, C)),
        SlotMove(Slot(3), (A, B), (B, C)),
    ]
    counts = KnownContents({Slot(1): SlotContents(10, 30, 4000)}, {Slot(2): SlotContents(4, 6)})
    told = moved(placement_diff, counts)
    assert told["parts"] == {"all": 4, "changed": 3, "counted": 1, "reported": 1, "estimated": 1}
    assert told["copies"] == {"all": 6, "moved": 4, "share": 0.6667}
    assert told["key_space"] == {"changed": 0.75}
    assert told["documents"] == {"moved": 10 + 8 + 7, "counted": 10, "reported": 8, "estimated": 7}
    assert told["bytes"] == {"moved": 4000 + 2000 + 2500, "counted": 4000, "reported": 2000, "estimated": 2500}


def test_nothing_known_moves_nothing() -> None:
    assert moved([], KnownContents({}, {}))["documents"]["moved"] == 0
    assert moved([SlotMove(Slot(0), (A,), (B,))], KnownContents({}, {}))["bytes"]["moved"] == 0


def test_urls_newly_denied_and_allowed_are_counted_by_host_and_rule() -> None:
    before = strategy(Rule(action="deny", host="old.test"))
    after = strategy(Rule(action="deny", host="*.bad.test"), Rule(action="deny", pattern="secret"))
    effect = HostEffect(before, after, {})
    urls = [
        "http://a.bad.test/1",
        "http://a.bad.test/2",
        "http://ok.test/secret",
        "http://ok.test/",
        "http://old.test/",
    ]
    for url in urls:
        effect.add(url, Slot(0), None, has_document=url.endswith("1"))
    told = effect.json()
    assert (told["urls"], told["known"], told["allowed_urls"]) == (5, 3, 1)
    assert (told["denied_urls"], told["denied_documents"], told["denied_hosts"]) == (3, 1, 2)
    assert told["denied"] == [
        {"rule": 1, "host": "a.bad.test", "urls": 2, "documents": 1},
        {"rule": 2, "host": "ok.test", "urls": 1, "documents": 0},
    ]


def test_a_host_changes_hands_where_its_holder_goes_or_another_is_preferred() -> None:
    owners = {Slot(0): (A, B), Slot(1): (B, C)}
    effect = HostEffect(strategy(), strategy(Rule(action="prefer", host="p.test", peer=B.hex())), owners, {A, B})
    effect.add("http://stays.test/", Slot(0), A, has_document=False)
    effect.add("http://goes.test/", Slot(1), A, has_document=False)
    effect.add("http://p.test/", Slot(0), A, has_document=False)
    told = effect.json()["fetched_by_others"]
    assert told == [
        {"host": "goes.test", "before": A.hex(), "after": ""},
        {"host": "p.test", "before": A.hex(), "after": B.hex()},
    ]


def test_who_fetched_before_is_the_named_node_only_where_it_is_a_live_member_and_willing() -> None:
    def before(owners: tuple[NodeId, ...], *refusing: NodeId, live: frozenset[NodeId] = frozenset((A, B, C))) -> str:
        rule = Rule(action="prefer", host="p.test", peer=B.hex())
        effect = HostEffect(strategy(rule), strategy(), {Slot(0): (C,)}, live)
        effect.add("http://p.test/", Slot(0), A, has_document=False, owners=owners, refuses=refusing.__contains__)
        (entry,) = effect.json()["fetched_by_others"]
        return str(entry["before"])

    assert before((A, B)) == B.hex()
    assert before((A, C)) == B.hex(), "it owns nothing of it, and fetches for the holder"
    assert before((A, B), live=frozenset((A,))) == A.hex(), "it is not there"
    assert before((A, B), B) == A.hex(), "it refuses the host"
    assert before((A, B, C), A, B) == C.hex(), "so does the holder"


def test_nobody_fetched_what_was_denied_before_and_nobody_is_ordered_from_who_goes() -> None:
    name = Rule(action="prefer", host="p.test", peer=B.hex())
    effect = HostEffect(strategy(Rule(action="deny", host="p.test")), strategy(name), {Slot(0): (A,)}, {A, B})
    effect.add("http://p.test/", Slot(0), A, has_document=False)
    assert (effect.json()["allowed_urls"], effect.json()["fetched_by_others"]) == (1, [])
    after = replace(strategy(name), blocked=(B.hex(),))
    effect = HostEffect(strategy(), after, {Slot(0): (A,)}, {A, B})
    effect.add("http://p.test/", Slot(0), A, has_document=False)
    assert effect.json()["fetched_by_others"] == []


def test_changes_are_plain_data() -> None:
    told = changes_json(strategy(), strategy(Rule(action="deny", host="a.test")))
    assert told["fields"] == []
    assert [(c["change"], c["number"], c["rule"]["host"]) for c in told["rules"]] == [("added", 1, "a.test")]
