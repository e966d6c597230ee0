"""The evidence as people read it: nobody is accused before fetching again confirmed it."""

from node.views.evidence import evidence_line, evidence_lines, local_lines, looks_line

WHO = "ab" * 20
PIECES = [{"finder": "cd" * 20}, {"finder": "ef" * 20}]
AUTHOR = {"node_id": WHO, "domains": ["a.test", "b.test", "c.test"], "counts": True, "pieces": PIECES}


def lines(**changes: object) -> str:
    return "\n".join(evidence_lines({"domains_needed": 3, "authors": [AUTHOR | changes]}))


def test_confirmed_evidence_says_how_to_block_its_author() -> None:
    told = lines(again={"a.test": "unlike"}, confirmed=True, no_votes_until=1_800_000_000.0)
    assert f"{WHO}: pages differ from their sites on a.test, b.test, c.test; 2 finders" in told
    assert "until 2027-01-15" in told and "a.test: unlike" in told
    assert f"`dse-node strategy draft --block {WHO}`" in told


def test_too_little_or_unconfirmed_evidence_accuses_nobody() -> None:
    assert "not enough" in lines(domains=["a.test"], counts=False) and "--block" not in lines(counts=False)
    assert "not confirmed" in lines(again={"a.test": "alike"})
    assert list(evidence_lines({"domains_needed": 3, "authors": []})) == ["no evidence against any node"]


def test_a_member_without_the_room_that_it_claims_is_named() -> None:
    said = {"node_id": WHO, "at": 1_795_269_389.0, "reason": "its disk took no record"}
    (line,) = local_lines({"limits": {"without_room": [said]}})
    assert line.startswith(f"{WHO}: says that it has room, but its disk took no record on 2026-11-21;")
    assert list(local_lines({})) == ["no findings against any node"]


def test_nonsense_is_no_line() -> None:
    assert list(evidence_lines({"authors": "junk"})) == ["no evidence against any node"]
    assert "\x1b" not in lines(node_id="\x1b[31m", domains=["\x1b[31m"], again={"\x1b[1m": "\x1b[2m"})


LIAR, OTHER = "ab" * 20, "cd" * 20
QUIET = {"fetches": 30, "compared": 14, "unlike": 0, "confirmed": 0, "evidence": {}, "contradicted": []}


def test_a_node_tells_how_often_it_looked_and_that_nothing_was_wrong() -> None:
    status = {"second_looks": QUIET, "crawl": {"fetched": 1000}}
    assert looks_line(status) == "30 fetches (3.0% of its own) for 14 pages of others; all as written"
    assert evidence_line(status) == ""


def test_contradicted_authors_come_first_then_those_with_some_evidence() -> None:
    liar = {"node_id": LIAR, "domains": ["a.example", "b.example", "c.example"], "until": 1_800_000_000.0}
    looks = QUIET | {"unlike": 7, "confirmed": 5, "evidence": {LIAR: 3, OTHER: 2}, "contradicted": [liar]}
    status = {"second_looks": looks}
    assert looks_line(status).endswith("7 differed from what their authors wrote, 5 of them twice")
    what = "contradicted by 3 domains, see `dse-node evidence`; 2 pieces of evidence against cdcdcdcdcdcd"
    assert evidence_line(status) == f"abababababab gets no votes until 2027-01-15: {what}"
    kept = {"second_looks": looks | {"contradicted": [liar | {"votes": True}]}}
    assert evidence_line(kept).startswith("abababababab keeps its leases: ")


def test_another_version_or_nonsense_is_no_line() -> None:
    assert looks_line({}) == evidence_line({}) == ""
    assert looks_line({"second_looks": "junk"}) == evidence_line({"second_looks": {"evidence": 3}}) == ""
