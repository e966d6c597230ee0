"""The heading that is shown with a passage is the one that it stands under."""

import pytest

from index.results.passage_heading import heading_above

HEADINGS = ("Guide", "Install¶", "Configure", "Menu")
BODY = "Guide\nWhat it is.\nInstall¶\nFetch it.\nUnpack it.\nConfigure\nSet the port.\n"


@pytest.mark.parametrize(
    ("passage", "heading"),
    [
        ("Fetch it", "Install"),
        ("Unpack", "Install"),
        ("it.\nConfigure", "Install"),
        ("Set the", "Configure"),
        ("Configure\nSet", ""),
        ("figure", ""),
        ("Guide", ""),
        ("What", ""),
    ],
)
def test_a_passage_stands_under_the_heading_before_it(passage: str, heading: str) -> None:
    assert heading_above(BODY, BODY.index(passage), HEADINGS, "guide") == heading


def test_what_is_no_heading_is_none() -> None:
    assert heading_above(BODY, BODY.index("Set"), (), "") == ""
    assert heading_above(BODY, -1, HEADINGS, "") == heading_above("", 0, HEADINGS, "") == ""
    assert heading_above(BODY, BODY.index("What"), HEADINGS, "Another") == "Guide"
    long = "Configure" + "\nx" * 100_000
    assert heading_above(long, len(long), HEADINGS, "") == "", "no page costs more than some hundred lines"
