"""What people read of the ranks of pages."""

from node.views.ranks import ranks_line

RANKS = {
    "runs": True,
    "sites": 12,
    "pages": 1500,
    "distance": 2.5e-7,
    "converged": True,
    "why": "",
    "left_out": 0,
    "hosts": 35,
}


def test_ranks_that_are_proved_say_how_well():
    assert ranks_line({"ranks": RANKS}) == (
        "1,500 pages of 12 sites ranked here by their links, and all 35 hosts; converged, 0.25 millionths may be wrong"
    )


def test_others_say_why_not():
    said = ranks_line(
        {"ranks": RANKS | {"distance": None, "converged": False, "why": "slot 7\nis late", "left_out": 9}}
    )
    assert said.startswith("1,500 pages of 12 sites ranked here by their links, and all 35 hosts, 9 links left out; ")
    assert said.endswith("; not converged: slot 7 is late")


def test_nothing_is_said_where_none_are_computed_or_a_node_is_older():
    assert ranks_line({}) == ranks_line({"ranks": "junk"}) == ranks_line({"ranks": RANKS | {"runs": False}}) == ""
