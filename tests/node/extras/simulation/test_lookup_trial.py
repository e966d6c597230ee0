from node.extras.simulation.forming import form
from node.extras.simulation.lookup_trial import LookupLog, LookupTrial, figures_of, hops_of, quantile, truth
from node.extras.simulation.swarm import Swarm


def test_quantiles_and_figures():
    assert quantile([], 0.5) is None
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([3.0, 1.0, 2.0], 1.0) == 3.0
    assert figures_of(LookupLog(), None) == {"count": 0, "ok": None, "p50_ms": None, "p95_ms": None, "hops": None}


def test_answers_are_judged_by_who_is_up_and_on_the_same_side():
    swarm = Swarm(seed=2)
    swarm.add(40)
    form(swarm, members=False)
    lookups = LookupTrial(swarm, 1)
    lookups.ask_often(20, 0.05)
    swarm.run(5.0)
    assert len(lookups.log.ended) == lookups.log.asked == 20
    assert all(answer.right and answer.share == 1.0 for answer in lookups.log.ended)
    assert 100 < figures_of(lookups.log, None)["p50_ms"] < 500
    assert 1.0 <= (hops_of(bee.core for bee in swarm.bees) or 0) < 3
    swarm.kill(swarm.bees[1])
    swarm.cut({2: 1})
    target = swarm.bees[1].node_id
    near = truth(swarm, swarm.bees[0], target)
    assert swarm.bees[1].node_id not in near
    assert swarm.bees[2].node_id not in near


def test_a_lookup_still_under_way_has_not_failed_and_one_whose_asker_died_has():
    swarm = Swarm(seed=2)
    swarm.add(40)
    form(swarm, members=False)
    lookups = LookupTrial(swarm, 1)
    lookups.ask()
    assert figures_of(lookups.log, None)["count"] == 0
    swarm.run(5.0)
    assert figures_of(lookups.log, None)["ok"] == 1.0
    lookups.ask()
    swarm.kill(*swarm.bees)
    assert figures_of(lookups.log, None) | {"p50_ms": 0, "p95_ms": 0} == {
        "count": 2,
        "ok": 0.5,
        "hops": None,
        "p50_ms": 0,
        "p95_ms": 0,
    }
    for bee in swarm.bees:
        swarm.restart(bee)
    assert figures_of(lookups.log, None)["count"] == 2, "the core that asked is gone for good"
