"""Trials of overlays alone: the contract's shape, right lookups, one trace a seed, whatever befalls them."""

from node.extras.simulation.conditions import Conditions
from node.extras.simulation.swarm_trial import run_swarm_trial

SHAPE = [
    *("what", "seed", "nodes", "simulated_s", "wall_s", "trace_hash"),
    *("lookups", "teams", "leases", "strategy", "traffic", "documents", "balance"),
]


def test_a_quiet_trial_finds_everything_and_repeats_exactly():
    asked = Conditions(nodes=30, hours=0.015, seed=3)
    report = run_swarm_trial(asked)
    assert list(report) == SHAPE
    assert report["what"] == "overlays"
    assert report["lookups"]["ok"] > 0.97
    assert 1 <= report["lookups"]["hops"] < 4
    assert report["strategy"]["spread_s"] < 20
    assert run_swarm_trial(asked) | {"wall_s": 0} == report | {"wall_s": 0}


def test_loss_churn_a_cut_and_nodes_behind_nats_leave_most_lookups_right():
    asked = Conditions(30, 0.025, 3, loss=0.02, churn=(60.0, 30.0), partition=(30.0, 30.0), nat=0.2)
    report = run_swarm_trial(asked)
    assert report["lookups"]["count"] > 60
    assert report["lookups"]["ok"] > 0.6  # a mean session of a minute is much
    assert report["leases"] == {"double_connected": None, "double_across_cut": None}
