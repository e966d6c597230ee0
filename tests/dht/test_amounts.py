"""One thing is named in the singular."""

from dht import counted


def test_one_thing_is_singular_and_more_have_separators() -> None:
    assert [counted(number, "page") for number in (0, 1, 1200)] == ["0 pages", "1 page", "1,200 pages"]
    assert (counted(1, "reply", "replies"), counted(2, "reply", "replies")) == ("1 reply", "2 replies")
