from node.simulation.forming import form
from node.simulation.lookup_trial import LookupTrial, figures_of, hops_of, quantile, truth
from node.simulation.swarm import Swarm


def test_quantiles_and_figures():
    assert quantile([], 0.5) is None
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([3.0, 1.0, 2.0], 1.0) == 3.0
    assert figures_of([], 0, None) == {"count": 0, "ok": None, "p50_ms": None, "p95_ms": None, "hops": None}


def test_answers_are_judged_by_who_is_up_and_on_the_same_side():
    swarm = Swarm(seed=2)
    swarm.add(40)
    form(swarm, members=False)
    questions = LookupTrial(swarm, 1)
    questions.ask_often(20, 0.05)
    swarm.run(5.0)
    assert len(questions.answers) == questions.asked == 20
    assert all(answer.right and answer.share == 1.0 for answer in questions.answers)
    assert 100 < (questions.took_ms(0.5) or 0) < 500
    assert 1.0 <= (hops_of(swarm) or 0) < 3
    swarm.kill(swarm.bees[1])
    swarm.cut({2: 1})
    target = swarm.bees[1].node_id
    near = truth(swarm, swarm.bees[0], target)
    assert swarm.bees[1].node_id not in near
    assert swarm.bees[2].node_id not in near
