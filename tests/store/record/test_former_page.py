"""A former version follows from its page alone, proves itself wherever it lies, and nothing else passes for one."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dht import Key, placement_key
from store import Document, Draft, Kind, Record, encode_document
from store.record.former_page import (
    DAY_MS,
    KEPT_DAYS,
    MOST_DAYS,
    VersionPolicy,
    erases,
    filed,
    former_of,
    former_range,
    is_erasure,
    name_of,
    page_in,
    proof_flaws,
)
from store.record.package import MAX_RECORD_BYTES, open_package, pack
from store.record.record_check import RecordCheck
from tests.store.support import DAY, WALL, NoBodyRules, draft, records, url

GOLDEN = Path(__file__).parents[2] / "data" / "store-former.bin"
CHECK = RecordCheck(NoBodyRules())


def flaws(found: Iterable[Record]) -> list[str]:
    return [flaw.reason for flaw in CHECK.flaws(list(found))]


def page(at: float = 0.0, days: int = KEPT_DAYS, **said: object) -> Record:
    document = Document(url(1), WALL + at, 200, text="some text")
    body = encode_document(replace(document, **said))
    (made,) = records(replace(draft(1, at=at, days=days), body=body, content=b"" if said.get("gone") else b"<p>"))
    return made


def moved(record: Record) -> Record:
    key = placement_key(url(1), 3)
    return replace(record, key=key, proof=replace(record.proof, key=record.key))


def test_it_holds_the_page_and_carries_its_proof() -> None:
    first, second = page(0.0), page(60.0)
    kept = [former_of(each) for each in (first, second)]
    assert [page_in(each) for each in kept] == [first, second] and flaws(kept) == ["", ""]
    low, high = former_range(first.id)
    assert low < kept[0].id < high and low < kept[1].id < high and kept[0].id != kept[1].id
    assert name_of(kept[0].id) == name_of(first.id)
    assert open_package(pack(kept)) == kept
    bare = [each.without_content() for each in kept]
    assert flaws(bare) == ["", ""] and bare == [former_of(each.without_content()) for each in (first, second)]


def test_it_moves_with_its_site_and_stays_the_same_version() -> None:
    kept = former_of(page())
    there = former_of(moved(page()))
    assert there.version == kept.version and there.id == kept.id and there.key != kept.key
    assert there == moved(kept), "whoever moves it makes what whoever replaces the moved page makes"
    assert proof_flaws([there]) == [""] and page_in(there) == moved(page())


@pytest.mark.parametrize(
    "change",
    [
        {"id": former_of(page(5.0)).id},
        {"key": Key(bytes(20))},
        {"expires_day": DAY + MOST_DAYS + 1},
        {"body": former_of(page(5.0)).body},
        {"version": page().version},
        {"proof": former_of(page(5.0)).proof},
        {"content": b"<b>", "content_digest": bytes(32)},
    ],
    ids=lambda change: "-".join(change),
)
def test_whoever_changes_anything_of_it_is_refuted(change: dict[str, object]) -> None:
    (flaw,) = CHECK.flaws([replace(former_of(page()), **change)])
    assert flaw.reason and not flaw.is_authors, "its author has nothing to do with it"


def test_a_page_that_its_author_did_not_sign_so_makes_none() -> None:
    forged = replace(page(), proof=page(5.0).proof)
    assert flaws([former_of(forged)]) == ["signature does not verify"]
    visit = records(draft(1, kind=Kind.VISIT))[0]
    wrapped = replace(former_of(page()), body=b"\x91\xc0")
    assert flaws([wrapped])[0].startswith("it holds no page") and filed(visit) is None


def test_nobody_writes_one() -> None:
    kept = former_of(page())
    made = Draft(Kind.FORMER, kept.id, kept.key, 1, kept.version.at_ms, kept.expires_day, kept.body)
    assert CHECK.draft_flaw(made) == "a former version is filed, not written"


def test_what_may_not_be_shown_is_not_filed() -> None:
    assert filed(page(noarchive=True)) is None, "its author forbids copies"
    assert filed(page(gone=True, status=404, text="")) is None, "there is nothing to show"
    assert flaws([former_of(page(noarchive=True))])[0].startswith("it is not what follows")
    big = replace(draft(1, days=KEPT_DAYS), content=bytes(MAX_RECORD_BYTES - 300))
    assert filed(records(big)[0]) is None, "with all that names it it would be too large for a package"


@pytest.mark.parametrize(("status", "is_erased"), [(404, False), (410, False), (301, False), (200, True), (451, True)])
def test_what_asks_not_to_be_found_erases_and_what_has_gone_does_not(status: int, is_erased: bool) -> None:
    assert erases(Document(url(1), WALL, status, gone=True)) is is_erased
    assert not erases(Document(url(1), WALL, status))


def test_there_is_one_erasure_of_a_page_the_last_of_all_ids() -> None:
    first, second = (filed(page(at, gone=True, text="")) for at in (0.0, 60.0))
    assert first is not None and second is not None and flaws([first, second]) == ["", ""]
    assert (
        first.id == second.id == former_range(page().id)[1] and is_erasure(first.id) and second.version > first.version
    )
    assert not is_erasure(former_of(page()).id)
    assert first.expires_day == DAY + MOST_DAYS, "it outlives all that it erased"


def test_it_lasts_as_long_as_any_policy_says_but_where_its_author_wishes_less() -> None:
    assert former_of(page()).expires_day == DAY + MOST_DAYS
    assert former_of(page(days=20)).expires_day == DAY + 20
    assert page().version.at_ms // DAY_MS == DAY


def test_a_golden_version_is_what_we_make() -> None:
    made = [former_of(page()), former_of(moved(page())), former_of(page(9.0, gone=True, text=""))]
    assert open_package(GOLDEN.read_bytes()) == made


TODAY = 20_000
policies = st.builds(VersionPolicy, st.integers(0, 5), st.integers(1, 900))
instants = st.integers((TODAY - 1000) * DAY_MS, (TODAY + 1) * DAY_MS)
versions = st.frozensets(instants, max_size=40)
erasures = st.one_of(st.just(-1), instants)


def at(days_ago: int, hour: int = 0) -> int:
    return (TODAY - days_ago) * DAY_MS + hour * 3_600_000


@given(policies, versions, versions, erasures)
def test_what_two_owners_keep_together_is_what_one_would_keep_of_all(
    policy: VersionPolicy, a: frozenset[int], b: frozenset[int], erased: int
) -> None:
    kept = policy.kept(policy.kept(a, TODAY, erased) | policy.kept(b, TODAY), TODAY, erased)
    assert kept == policy.kept(a | b, TODAY, erased)


@given(policies, versions, st.integers(0, 500), st.integers(0, 500))
def test_whoever_thins_out_less_often_ends_with_the_same(
    policy: VersionPolicy, found: frozenset[int], first: int, more: int
) -> None:
    early, late = policy.kept(found, TODAY + first), policy.kept(found, TODAY + first + more)
    assert policy.kept(early, TODAY + first + more) == late and late <= early <= found


def test_the_newest_stay_and_of_others_fewer_the_older_they_are() -> None:
    policy = VersionPolicy(last=2, days=400)
    same_day = [at(0, hour) for hour in range(6)]
    assert policy.kept(same_day, TODAY) == {at(0, 5), at(0, 4), at(0, 3)}, "two, and one of that day"
    daily = [at(days, hour) for days in range(500) for hour in (1, 13)]
    kept = sorted(policy.kept(daily, TODAY), reverse=True)
    ages = [TODAY - each // DAY_MS for each in kept]
    assert ages[:30] == [0, 0, *range(1, 29)] and ages[2] == 1
    assert all(b - a == 8 for a, b in pairwise(ages) if 48 < a < 340), ages
    assert max(ages) <= 400 and len(ages) < 100


def test_a_span_is_thinned_out_at_once_when_the_whole_of_it_is_old_enough() -> None:
    policy, first = VersionPolicy(0, 1000), 64 * 300
    week = [(first + day) * DAY_MS for day in range(8)]
    assert policy.kept(week, first + 8 + 31) == {*week} and policy.kept(week, first + 8 + 32) == {week[-1]}
    weeks = [(first + 8 * n + 7) * DAY_MS for n in range(8)]
    assert policy.kept(weeks, first + 64 + 364) == {*weeks} and policy.kept(weeks, first + 64 + 365) == {weeks[-1]}
    assert policy.kept(weeks[-1:], first + 63 + 1000) and not policy.kept(weeks[-1:], first + 63 + 1001)


def test_no_page_has_more_versions_than_readers_are_told() -> None:
    hourly = range(at(MOST_DAYS), at(-1), DAY_MS // 4)
    for shift in range(0, 64, 7):
        most = VersionPolicy(100, MOST_DAYS).kept((each + shift * DAY_MS for each in hourly), TODAY + shift)
        assert len(most) <= 256


def test_without_days_none_is_kept_and_what_is_erased_goes_whatever_its_age() -> None:
    assert not VersionPolicy().keeps_any and VersionPolicy(last=3).kept([at(0)], TODAY) == frozenset()
    policy = VersionPolicy(9, 100)
    assert policy.kept([at(3), at(2), at(1)], TODAY, erased_upto=at(2)) == {at(1)}
