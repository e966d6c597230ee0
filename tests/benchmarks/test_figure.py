"""The figure of a soak."""

from xml.etree import ElementTree

from benchmarks.soak.figure import draw


def test_every_node_has_a_line_in_every_panel() -> None:
    series = {"memory MB": {"a<b": [(0.0, 1.0), (60.0, 2.0)], "c": [(0.0, 0.0)]}, "tasks": {"c": []}}
    root = ElementTree.fromstring(draw(series, "x & y"))
    lines = [each.get("points") for each in root.iter("{http://www.w3.org/2000/svg}polyline")]
    assert len(lines) == 3 and "790.0,26.0" in (lines[0] or "")
    assert "a<b" in [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
