"""Rows and the JSON of benchmarks: the worst seed is judged, the shape is the contract's."""

import json

import pytest

from benchmarks.figures import row, show


def test_the_median_is_shown_and_the_worst_seed_is_judged():
    good = row("a", [1.0, 3.0, 2.0], "ms", goal=3.0, peer=[4.0])
    assert (good.ours, good.spread, good.met, good.ratio, good.goal) == (2.0, (1.0, 3.0), True, 0.5, "≤ 3")
    assert not row("a", [1.0, 3.0, 2.0], "ms", goal=2.9).met
    assert row("a", [0.98, 1.0], "of all", goal=0.98, at_least=True).met
    assert not row("a", [0.97, 1.0], "of all", goal=0.98, at_least=True).met


def test_without_goal_or_values_nothing_is_claimed():
    assert row("a", [5.0], "ms").met is None
    assert row("a", [], "ms", goal=1.0).met is False
    assert row("a", [5.0], "ms", peer="cannot").ratio is None


def test_json_has_the_shape_of_the_contract(capsys: pytest.CaptureFixture[str]):
    show("overlay", [row("a", [1.0], "ms", goal=2.0, peer=[4.0])], ["msgspec", "no such package"], as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["name", "commit", "machine", "versions", "rows"]
    assert list(printed["rows"][0]) == ["what", "ours", "peer", "ratio", "unit", "spread", "goal", "met"]
    assert printed["versions"]["msgspec"] and printed["versions"]["no such package"] is None
    show("overlay", [row("a", [1.0], "ms", goal=2.0, peer=[4.0])], ["msgspec"], as_json=False)
    assert "yes" in capsys.readouterr().out
