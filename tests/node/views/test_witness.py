"""What people read of a node's work as a witness."""

from node.views.witness import found_line, looks_line

LIAR, OTHER = "ab" * 20, "cd" * 20
QUIET = {"possible": True, "fetches": 30, "compared": 14, "unlike": 0, "agreed": 0, "accused": {}, "convicted": []}


def test_a_quiet_witness_says_how_much_it_looked_at():
    status = {"witness": QUIET, "crawl": {"fetched": 1500}}
    assert looks_line(status) == "30 fetches (2.0% of its own) for 14 pages of others; all as written"
    assert found_line(status) == ""
    assert looks_line({"witness": QUIET}) == "30 fetches for 14 pages of others; all as written"


def test_who_was_found_out_is_named_with_what_follows():
    convict = {"node_id": LIAR, "since": 0.0, "until": 1_800_000_000.0, "sites": ["a.example", "b.example"]}
    status = {"witness": QUIET | {"unlike": 7, "agreed": 5, "accused": {LIAR: 9, OTHER: 2}, "convicted": [convict]}}
    assert "7 said something else than their authors wrote, 5 of them to three witnesses" in looks_line(status)
    assert found_line(status) == (
        "abababababab gets no leases until 2027-01-15: it wrote what 2 sites did not say; "
        "9 statements against abababababab; 2 statements against cdcdcdcdcdcd"
    )


def test_where_there_is_no_panel_or_software_is_older_that_is_said_or_nothing():
    assert "three old, unrelated members" in looks_line({"witness": QUIET | {"possible": False}})
    assert looks_line({}) == found_line({}) == ""
    assert looks_line({"witness": "junk"}) == found_line({"witness": {"accused": 3, "convicted": [1]}}) == ""
