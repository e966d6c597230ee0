"""Rings of the key space: each sector is drawn where it lies, and the worst network makes a small drawing."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from node.views.ring_plot import DrawnRing, dashes_of, ring_plot


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_dashes_say_exactly_which_sectors_are_drawn(flags: list[bool]) -> None:
    lengths = list(map(int, dashes_of(flags).split()))
    drawn = [number % 2 == 0 for number, length in enumerate(lengths) for _ in range(length)]
    assert drawn == flags and len(lengths) % 2 == 0, "an odd list would be repeated inside out"


def test_a_ring_has_a_circle_for_each_class_and_none_for_nothing() -> None:
    plot = ring_plot([DrawnRing("copies", 9, (1, 1, 0, 3)), DrawnRing("mine", 9, (0, 0, 0, 0))], ["<3 nodes>"], "a & b")
    svg = ElementTree.fromstring(str(plot))
    circles = {each.get("class"): each for each in svg.iter("circle")}
    assert set(circles) == {"track", "copies1", "copies3"}
    assert circles["copies1"].get("stroke-dasharray") == "2 2" and circles["copies1"].get("pathLength") == "4"
    assert circles["copies3"].get("stroke-dasharray") == "0 3 1 0"
    assert [text.text for text in svg.iter("text")] == ["<3 nodes>"] and svg.get("aria-label") == "a & b"


def test_sectors_that_alternate_make_a_small_drawing() -> None:
    rings = [DrawnRing("copies", 9, tuple(n % 4 + 1 for n in range(256)))] * 4
    assert len(ring_plot(rings, [], "")) < 10_000
