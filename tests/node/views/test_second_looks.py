"""Second looks in two lines: what they cost, what they found, and what becomes of an author that they contradict."""

from node.views.second_looks import evidence_line, looks_line

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
    what = "3 domains contradict it, see `dse-node evidence`; 2 pieces of evidence against cdcdcdcdcdcd"
    assert evidence_line(status) == f"abababababab gets no votes until 2027-01-15: {what}"
    kept = {"second_looks": looks | {"contradicted": [liar | {"votes": True}]}}
    assert evidence_line(kept).startswith("abababababab keeps its leases: ")


def test_another_version_or_nonsense_is_no_line() -> None:
    assert looks_line({}) == evidence_line({}) == ""
    assert looks_line({"second_looks": "junk"}) == evidence_line({"second_looks": {"evidence": 3}}) == ""
