from node.extras.simulation.conditions import Conditions


def test_halves_and_hidden_nodes_follow_from_the_seed():
    asked = Conditions(nodes=21, hours=1.0, seed=4, nat=0.3)
    assert sorted(asked.halves()) == list(range(21))
    assert sum(asked.halves().values()) == 10
    assert len(asked.hidden()) == 6
    assert 0 not in asked.hidden()
    assert asked.hidden() == Conditions(nodes=21, hours=9.0, seed=4, nat=0.3).hidden()
    assert asked.halves() != Conditions(nodes=21, hours=1.0, seed=5).halves()
