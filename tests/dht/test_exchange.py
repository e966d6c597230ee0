"""What a PING carries fits its packet, also where the sender has no heartbeat of its own."""

from node.simulation.forming import form
from node.simulation.swarm import Swarm


def test_a_client_with_much_to_tell_sends_packets_that_fit():
    swarm = Swarm(seed=1)
    swarm.add(150)
    form(swarm)
    (client,) = swarm.add(1, quiet=True)
    client.core.remember(swarm.now, [bee.core.own_heartbeat for bee in swarm.bees[:150]])
    swarm.kick(client)
    swarm.run(10.0)
    assert client.core.sent["Ping"] > 3
    assert sum(client.core.members.is_live(bee.node_id, swarm.now) for bee in swarm.bees[:150]) > 100
