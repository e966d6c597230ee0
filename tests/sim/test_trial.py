"""The standard story: figures in the contract's shape, and an exit code that follows from them."""

import pytest

from node.cli.main import main
from node.extras.simulation.conditions import Conditions
from node.extras.simulation.trial import plan_for, run_trial


def test_figures_have_the_shape_of_the_contract_and_nothing_is_lost():
    report = run_trial(Conditions(nodes=5, hours=0.25, seed=3, loss=0.01))
    assert report["documents"]["written"] == 48 and not report["documents"]["lost"]
    assert not report["documents"]["under_replicated"] and not report["leases"]["double_connected"]
    assert report["teams"]["agree_10s"] == 1.0
    assert 0 < report["strategy"]["spread_s"] <= 20
    assert report["simulated_s"] >= 900 and report["traffic"]["packets_per_node_s"] < 5


def test_slots_grow_with_the_network():
    assert [plan_for(nodes, 1, 0.0).slot_bits for nodes in (1, 5, 50, 1000)] == [4, 4, 6, 10]


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(3))
def test_three_hours_of_loss_and_deaths_lose_nothing(seed: int):
    report = run_trial(Conditions(nodes=16, hours=3.0, seed=seed, loss=0.02))
    assert not report["documents"]["lost"] and not report["documents"]["under_replicated"]
    assert not report["leases"]["double_connected"]


@pytest.mark.prove
def test_a_cut_churn_and_nodes_behind_nats_lose_nothing():
    # six: on both sides of the cut two members live at some time, and a side with one holds nothing
    asked = Conditions(6, 0.12, 2, churn=(180.0, 30.0), partition=(120.0, 60.0), nat=0.2)
    report = run_trial(asked)
    assert report["what"] == "whole nodes"
    assert report["leases"]["double_connected"] == 0 < report["leases"]["double_across_cut"]
    assert report["documents"]["written"] > 10
    assert not report["documents"]["lost"]
    assert report["lookups"]["count"] > 20
    assert report["lookups"]["ok"] > 0.7


@pytest.mark.parametrize("lengths", ["8h", "8h,", "0s,1h", "8,16", "1h,-2h", "x"])
def test_lengths_that_are_none_are_refused_by_name(lengths: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["simulate", "--churn", lengths])
    assert ended.value.code == 2
    assert "--churn" in capsys.readouterr().err
