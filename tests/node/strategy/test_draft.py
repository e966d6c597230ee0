"""The next version, drafted: every wish lands in its field, every mistake names field, value and remedy."""

from contextlib import nullcontext
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dht import BadStrategy, CrawlRules, Rule, Strategy, check_bounds
from dht.strategy.document import Admitter, Gone, MemberRoom, Revocation, encode_document
from node.strategy.draft import (
    DAY_S,
    DraftRequest,
    draft,
    host_rule,
    join_only,
    next_version,
    parse_admitter,
    parse_duration,
    parse_revocation,
    parse_room,
    parse_rule,
    parse_setting,
)
from node.strategy.draft_checks import check_index_copies, check_members, check_slots, proposed_bits

KEY, OTHER, NODE = "aa" * 32, "bb" * 32, "cc" * 20
DENIED, SLOW = Rule(action="deny", host="bad.test"), Rule(host="*.slow.test", min_delay_s=9.0)
NOW = 10_000_000


def newest(**fields: Any) -> Strategy:
    usual = {"version": 3, "previous": "ab" * 32, "effective_at": 5, "next_at": 6, "expires_at": 7}
    return Strategy(network="00" * 20, publishers=(KEY,), **{**usual, **fields})


def drafted(wishes: DraftRequest, **fields: Any) -> Strategy:
    return draft(newest(**fields), "cd" * 32, wishes, NOW)


def test_prefixes_are_read_with_and_without_a_host_and_only_rules_are_joined() -> None:
    assert host_rule("never", "192.0.2.7") == Rule(action="never", prefixes=("192.0.2.7/32",))
    ours = host_rule("only", "10.20.0.0/16, 2001:DB8::/48")
    assert ours == Rule(action="only", prefixes=("10.20.0.0/16", "2001:db8::/48"))
    at = host_rule("only", "*.A.test=10.0.0.0/8")
    assert at == Rule(action="only", host="*.a.test", prefixes=("10.0.0.0/8",))
    more, never = host_rule("only", "192.0.2.0/24"), host_rule("never", "10.20.9.0/24")
    assert join_only([ours, at, never, more, SLOW]) == [
        Rule(action="only", prefixes=("10.20.0.0/16", "2001:db8::/48", "192.0.2.0/24")),
        *(at, never, SLOW),
    ]
    with pytest.raises(BadStrategy, match=r"did you mean 10\.20\.0\.0/16\?"):
        host_rule("only", "10.20.1.0/16")
    for action, text in (("only", ""), ("never", "a.test="), ("never", "a.test"), ("only", "http://a=10.0.0.0/8")):
        with pytest.raises(BadStrategy):
            host_rule(action, text)


def test_a_draft_without_wishes_follows_the_newest_and_renews_its_instants() -> None:
    made = drafted(DraftRequest({}), replicas=5, rules=(DENIED,))
    assert (made.version, made.previous, made.replicas, made.rules) == (4, "cd" * 32, 5, (DENIED,))
    assert NOW == made.effective_at < made.next_at < made.expires_at


def test_instants_are_counted_from_when_it_takes_effect() -> None:
    made = drafted(DraftRequest({}, effective_in_s=3600, expires_in_s=DAY_S))
    assert (made.effective_at, made.next_at, made.expires_at) == (NOW + 3600, NOW + 3600 + DAY_S, NOW + 3600 + DAY_S)
    assert drafted(DraftRequest({}, next_in_s=60)).next_at == NOW + 60


def test_new_rules_come_first_in_their_order_and_an_old_one_given_again_moves_up() -> None:
    wishes = DraftRequest({}, rules=[host_rule("deny", "New.Test"), SLOW])
    assert drafted(wishes, rules=(DENIED, SLOW)).rules == (Rule(action="deny", host="new.test"), SLOW, DENIED)
    assert drafted(DraftRequest({}, drop_rules=[1]), rules=(DENIED, SLOW)).rules == (SLOW,)


def test_who_is_gone_is_named_from_now_on_until_nothing_of_it_can_be_about() -> None:
    old, other = Gone("dd" * 20, NOW - 31 * DAY_S), Gone("ee" * 20, NOW - 29 * DAY_S)
    made = drafted(DraftRequest({}, gone=[NODE]), gone=(old, other))
    assert made.gone == (other, Gone(NODE, NOW))
    with pytest.raises(BadStrategy, match="gone"):
        drafted(DraftRequest({}, gone=["abc"]))


def test_a_member_s_room_is_named_by_its_last_word_and_bounded() -> None:
    node, other = "ab" * 20, "cd" * 20
    made = drafted(DraftRequest({}, rooms=[parse_room(f"{node.upper()}=1"), parse_room(f"{node}=2")]))
    assert made.rooms == (MemberRoom(node, 2),)
    assert drafted(DraftRequest({}, rooms=[parse_room(f"{other}=-2")]), rooms=made.rooms).rooms == (
        MemberRoom(node, 2),
        MemberRoom(other, -2),
    )
    for text in (node, f"{node}=3", f"{node}=x", f"{node}=", f"{node}=1.5"):
        with pytest.raises(BadStrategy, match="--room"):
            parse_room(text)
    for text in ("ab=1", f"{node}zz=1", "=1"):
        with pytest.raises(BadStrategy, match="rooms"):
            drafted(DraftRequest({}, rooms=[parse_room(text)]))
    assert b"room" not in encode_document(drafted(DraftRequest({}))), "the usual is not written"
    for unit in (999_999, 0, -1):
        with pytest.raises(BadStrategy, match="room_unit"):
            drafted(DraftRequest({"room_unit": unit}))


def test_who_may_import_is_named_and_left_out_again() -> None:
    made = drafted(DraftRequest({}, importers=[KEY, KEY]), importers=(OTHER,))
    assert made.importers == (OTHER, KEY)
    assert drafted(DraftRequest({}, no_importers=[KEY]), importers=(OTHER, KEY)).importers == (OTHER,)
    with pytest.raises(BadStrategy, match="--no-importer"):
        drafted(DraftRequest({}, no_importers=[KEY]))
    with pytest.raises(BadStrategy, match="hex digits"):
        drafted(DraftRequest({}, importers=[KEY[1:]]))


def test_who_may_invite_and_what_is_revoked_is_added_and_said_anew() -> None:
    wishes = DraftRequest({}, admit=[parse_admitter(f"{KEY.upper()}=2027-01-31")], revoke=[parse_revocation(NODE)])
    made = drafted(wishes, admitters=(Admitter(KEY), Admitter(OTHER)), revoked=(Revocation(OTHER, 5),))
    assert made.admitters == (Admitter(KEY, until=1_801_353_600), Admitter(OTHER))
    assert made.revoked == (Revocation(OTHER, 5), Revocation(NODE))
    assert drafted(DraftRequest({}, revoke=[parse_revocation(NODE[:16].upper())])).revoked[0].id[:16] == NODE[:16]
    for text in (f"{KEY}=soon", f"{KEY}=2027-13-01", f"{KEY}="):
        with pytest.raises(BadStrategy, match="2027-01-31"):
            parse_admitter(text)
    for wishes in (DraftRequest({}, admit=[Admitter("x")]), DraftRequest({}, revoke=[Revocation(NODE[:-1])])):
        with pytest.raises(BadStrategy, match="hex digits"):
            drafted(wishes)


def test_nodes_are_blocked_and_unblocked_and_publishers_replaced() -> None:
    assert drafted(DraftRequest({}, block=[NODE, NODE])).blocked == (NODE,)
    assert drafted(DraftRequest({}, unblock=[NODE]), blocked=(NODE, "dd" * 20)).blocked == ("dd" * 20,)
    made = drafted(DraftRequest({"threshold": 2}, publishers=[OTHER, KEY, OTHER]))
    assert (made.publishers, made.threshold) == ((OTHER, KEY), 2)


@pytest.mark.parametrize(
    ("wishes", "field"),
    [
        (DraftRequest({"replicas": 40}), "replicas"),
        (DraftRequest({"replicas": "two"}), "draft"),
        (DraftRequest({}, slot_bits=3), "slot_bits"),
        (DraftRequest({"threshold": 2}), "threshold"),
        (DraftRequest({}, drop_rules=[1]), "--drop-rule"),
        (DraftRequest({}, unblock=[NODE]), "--unblock"),
        (DraftRequest({}, block=["x"]), "blocked"),
        (DraftRequest({}, publishers=["x"]), "publishers"),
        (DraftRequest({}, rules=[Rule(action="prefer", host="a.test", peer="x")]), "rules[1].peer"),
        (DraftRequest({}, rules=[Rule(pattern="(")]), "rules[1].pattern"),
        (DraftRequest({}, next_in_s=2 * DAY_S, expires_in_s=DAY_S), "next_at"),
    ],
)
def test_what_cannot_be_is_refused_by_field(wishes: DraftRequest, field: str) -> None:
    with pytest.raises(BadStrategy) as refused:
        drafted(wishes)
    assert refused.value.field == field and refused.value.remedy


@pytest.mark.parametrize(
    ("text", "field"),
    [("replicas", "--set"), ("replica=4", "replica"), ("version=9", "version"), ("rules=[]", "rules"), ("=4", "")],
)
def test_a_setting_that_is_none_is_refused(text: str, field: str) -> None:
    with pytest.raises(BadStrategy) as refused:
        parse_setting(text)
    assert refused.value.field == field and refused.value.remedy


def test_settings_are_json_or_texts() -> None:
    assert parse_setting("replicas=4") == ("replicas", 4)
    assert parse_setting('declared_prefixes=["10.0.0.0/8"]') == ("declared_prefixes", ["10.0.0.0/8"])


@pytest.mark.parametrize("text", ["{", "[]", '{"action": "eat"}', '{"hots": "a"}', '{"slots": 3}'])
def test_a_rule_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadStrategy, match="write JSON such as"):
        parse_rule(text)


@pytest.mark.parametrize(
    ("action", "text"),
    [("deny", "http://"), ("deny", "a/b"), ("deny", ""), ("prefer", "a.test"), ("spread", "a.test=x"), ("spread", "a")]
    + [("deny", text) for text in ("a?b", "a#b", "u@a.test", "*", "a.*.test", "a b", "https://*.a.test/x")],
)
def test_a_host_option_that_is_none_is_refused(action: str, text: str) -> None:
    with pytest.raises(BadStrategy) as refused:
        host_rule(action, text)
    assert refused.value.field == f"--{action}"


@pytest.mark.parametrize("text", ["MÜNCHEN.test", "*.münchen.test.", "https://münchen.test/"])
def test_a_host_is_denied_however_people_write_it(text: str) -> None:
    rules = CrawlRules(drafted(DraftRequest({}, rules=[host_rule("deny", text)])))
    assert rules.decide("https://xn--mnchen-3ya.test/").action == "deny"


def test_a_prefix_is_denied_by_either_scheme_and_nothing_beside_it() -> None:
    rules = CrawlRules(drafted(DraftRequest({}, rules=[host_rule("deny", "https://A.test:8443/x.y/?q=")])))
    denied = ["https://a.test:8443/x.y/?q=1", "http://a.test:8443/x.y/?q="]
    others = ["https://a.test/x.y/?q=1", "https://a.test:8443/xzy/?q=1", "http://b.test/https://a.test:8443/x.y/?q="]
    assert [rules.decide(url).action for url in denied + others] == ["deny"] * 2 + ["owners"] * 3


def test_durations() -> None:
    assert [parse_duration("--x", text) for text in ("90s", "30m", "12h", "7d")] == [90, 1800, 43_200, 7 * DAY_S]
    for text in ("", "1", "h", "-1h", "1w", "1.5h", "1h30m"):
        with pytest.raises(BadStrategy, match="not a duration"):
            parse_duration("--effective-in", text)


@given(st.integers(4, 16), st.integers(1, 100_000))
def test_the_proposed_slots_give_each_member_enough_and_are_never_fewer(now: int, members: int) -> None:
    bits = proposed_bits(now, members, 3)
    assert now <= bits <= 16
    each = 2**bits / members
    assert each >= 16 or bits == 16 or (bits == 10 and members < 128)
    if bits > now:
        assert each < 32, "not more than it takes"


@given(st.integers(4, 16), st.integers(1, 100_000), st.integers(1, 16))
def test_what_is_proposed_may_be_signed(now: int, members: int, replicas: int) -> None:
    bits = proposed_bits(now, members, replicas)
    check_slots(msgspec.structs.replace(newest(), slot_bits=bits, replicas=replicas), now, members)


@pytest.mark.parametrize(
    ("bits", "before", "members", "most"),
    [(11, 10, 127, 10), (16, 8, 1, 10), (13, 12, 128, 12), (16, 15, 300, 13)],
)
def test_slots_that_no_heartbeat_could_tell_are_refused(bits: int, before: int, members: int, most: int) -> None:
    strategy = msgspec.structs.replace(newest(), slot_bits=bits)
    with pytest.raises(BadStrategy, match=f"is {bits}, and the slots of {members} members would not fit") as refused:
        check_slots(strategy, before, members)
    assert refused.value.remedy == f"choose {most} at most, or wait for more members"
    check_slots(msgspec.structs.replace(strategy, slot_bits=most), before, members)
    check_slots(strategy, bits, members)  # slots never get fewer: what is in force stays


def test_one_index_of_several_copies_is_refused_unless_it_is_meant() -> None:
    one = msgspec.structs.replace(newest(), index_copies=1)
    with pytest.raises(BadStrategy, match="is 1 of 3 replicas") as refused:
        check_index_copies(one, is_meant=False)
    assert refused.value.remedy == "choose 2 or 3, or add --one-index"
    check_index_copies(one, is_meant=True)
    check_index_copies(msgspec.structs.replace(one, replicas=1, min_acks=1), is_meant=False)
    check_index_copies(newest(), is_meant=False)


def test_a_shown_strategy_becomes_the_next_version_and_a_draft_stays_what_it_is() -> None:
    shown = msgspec.to_builtins(newest()) | {"digest": "ef" * 32, "signed_by": [], "warnings": []}
    following = next_version(msgspec.json.encode(shown), NOW)
    assert (following.version, following.previous, following.effective_at) == (4, "ef" * 32, NOW)
    made = drafted(DraftRequest({}))
    assert next_version(msgspec.json.encode(made), NOW + 999) == made
    check_bounds(made)


@pytest.mark.parametrize(
    ("stay", "lost", "agreed", "words"),
    [
        (1, 0, None, ""),  # a network of one
        (2, 2, None, ""),
        (2, 3, None, "add --yes-i-lose 3"),
        (1, 1, None, "add --yes-i-lose 1"),
        (2, 3, 2, "add --yes-i-lose 3"),
        (2, 3, 3, ""),
        (0, 3, 3, "leaves nobody"),
    ],
)
def test_a_version_that_puts_out_too_many_is_signed_by_their_number_alone(
    stay: int, lost: int, agreed: int | None, words: str
) -> None:
    with pytest.raises(BadStrategy, match=words) if words else nullcontext():
        check_members(stay, lost, agreed)
