"""A former version follows from its page alone, proves itself wherever it lies, and nothing else passes for one."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from dht import Key, placement_key
from store import Document, Draft, Kind, Record, encode_document
from store.record.former_page import (
    KEPT_DAYS,
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
from store.record.version_policy import DAY_MS, MOST_DAYS
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
