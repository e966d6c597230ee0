"""The evidence as people read it: nobody is accused before fetching again confirmed it."""

from node.views.evidence import evidence_lines

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
    assert "too little" in lines(domains=["a.test"], counts=False) and "--block" not in lines(counts=False)
    assert "not confirmed" in lines(again={"a.test": "alike"})
    assert list(evidence_lines({"domains_needed": 3, "authors": []})) == ["no evidence against anybody"]


def test_nonsense_is_no_line() -> None:
    assert list(evidence_lines({"authors": "junk"})) == ["no evidence against anybody"]
    assert "\x1b" not in lines(node_id="\x1b[31m", domains=["\x1b[31m"], again={"\x1b[1m": "\x1b[2m"})
