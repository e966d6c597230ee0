"""A denied URL or a blocked author takes records back. A peer that still brings them is no liar."""

import msgspec
import pytest

from dht import Identity, Rule, Strategy, document_id, placement_key
from store import Document, Draft, Kind, Record, encode_document
from store.record.denial import RecordDenial
from store.record.record_check import RecordCheck
from tests.store.support import DAY, SIGNER, WALL, NoBodyRules, draft, records, url

OTHER = Identity(bytes([7]) * 32)
DENIED = "https://bad.test/a/page"
PREFIX = Rule(action="deny", host="bad.test", pattern="^https?://bad\\.test/a/")


def strategy(*rules: Rule, blocked: tuple[str, ...] = ()) -> Strategy:
    return Strategy(network="", version=3, effective_at=0, expires_at=2, next_at=1, rules=rules, blocked=blocked)


def following(*rules: Rule, blocked: tuple[str, ...] = ()) -> RecordDenial:
    denial = RecordDenial()
    denial.follow(strategy(*rules, blocked=blocked), 0.0)
    return denial


def about(where: str, kind: Kind = Kind.DOCUMENT, epoch: int = 1) -> Record:
    body = encode_document(Document(where, WALL, 200)) if kind == Kind.DOCUMENT else msgspec.msgpack.encode((where, 1))
    (made,) = records(Draft(kind, document_id(where), placement_key(where), epoch, int(WALL * 1000), DAY + 9, body))
    return made


def test_a_denied_url_takes_back_its_page_whoever_wrote_it_and_leaves_what_tells_the_crawler_so() -> None:
    denial = following(Rule(host="good.bad.test"), PREFIX)
    assert denial.reason(about(DENIED)) == "denied by rule 2 of strategy 3"
    assert denial.reason(about(DENIED, Kind(77))), "a kind of a newer version may hold the page"
    assert not any(denial.reason(about(DENIED, kind)) for kind in (Kind.VISIT, Kind.HOST))
    assert not any(denial.reason(about(f"https://{rest}")) for rest in ("bad.test/b", "other.test/a/page"))


def test_a_blocked_author_takes_back_what_it_said_also_that_urls_exist() -> None:
    denial = following(blocked=(SIGNER.node_id.hex(),))
    assert denial.judges_authors
    reason = "strategy 3 blocks its author"
    assert denial.reason(about(DENIED)) == denial.reason(about(DENIED, Kind.VISIT)) == reason
    assert denial.reason(about(DENIED, Kind.VISIT, epoch=0)) == reason
    assert denial.reason(about(DENIED, Kind.HOST)) == ""
    (other,) = records(draft(1), signer=OTHER)
    assert denial.reason(other) == ""


def test_whoever_brings_what_is_taken_back_may_not_know_it_and_is_no_liar() -> None:
    check = RecordCheck(NoBodyRules(), denial=following(PREFIX))
    (flaw,) = check.flaws([about(DENIED)])
    assert flaw.reason and flaw.is_denied and not flaw.is_authors
    (flaw,) = check.flaws([about("https://bad.test/b")])
    assert not flaw.reason


def test_the_mark_tells_denials_apart_and_nothing_else() -> None:
    marks = {
        following().mark,
        following(Rule(host="slow.test", min_delay_s=9.0)).mark,
        following(PREFIX).mark,
        following(Rule(action="deny", host="bad.test")).mark,
        following(blocked=("00" * 20,)).mark,
    }
    assert "" in marks and len(marks) == 4
    one, other = following(PREFIX), following(PREFIX)
    other.follow(msgspec.structs.replace(strategy(PREFIX), version=4, replicas=5), 9.0)
    assert one.mark == other.mark != ""
    assert other.is_vanishing(299.0) and not other.is_vanishing(301.0), "nothing changed at 9.0"


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x91" * 5000, msgspec.msgpack.encode((3,))])
def test_a_body_that_is_none_is_left_to_others(body: bytes) -> None:
    record = msgspec.structs.replace(about(url(1)), body=body)
    assert following(PREFIX).reason(record) == ""
