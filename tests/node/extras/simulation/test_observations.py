from node.extras.simulation.forming import form
from node.extras.simulation.observations import StrategySpread, owners_agree, sample_slots, slot_bits_for, teams_agree
from node.extras.simulation.swarm import Swarm


def test_agreement_is_whole_at_peace_and_not_right_after_deaths_and_a_strategy_reaches_all():
    swarm = Swarm(seed=2)
    swarm.add(30)
    form(swarm)
    swarm.run(5.0)
    bits = slot_bits_for(30)
    slots = sample_slots(bits, 64, 1)
    assert teams_agree(swarm, slots, bits) == owners_agree(swarm, slots, bits, swarm.bees[:5]) == 1.0
    spread_s = StrategySpread(swarm, bits).spread_s(swarm, 30.0)
    assert spread_s is not None and 0.0 < spread_s < 20.0
    swarm.kill(*swarm.bees[:9])
    assert teams_agree(swarm, slots, bits) < 0.7
    assert owners_agree(swarm, slots, bits, swarm.running()) == 1.0
    swarm.run(swarm.time + 60.0)
    assert teams_agree(swarm, slots, bits) == 1.0


def test_slots_are_what_the_tool_proposes():
    assert [slot_bits_for(n) for n in (1, 16, 100, 1000)] == [8, 8, 10, 14]
    assert len(set(sample_slots(8, 999, 1))) == 256
