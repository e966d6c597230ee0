"""What a PING carries fits its packet, also where the sender has no heartbeat of its own."""

from random import Random

import pytest

from dht.config import DhtConfig
from dht.exchange import make_ping
from dht.herald import Herald
from dht.identity import Identity
from dht.members import Members
from dht.packets import ROOM_BYTES, body_size
from dht.reach import Reach
from dht.records import open_heartbeat
from dht.rumours import Rumours
from node.simulation.forming import form
from node.simulation.swarm import NETWORK, Swarm


@pytest.mark.parametrize("quiet", [True, False])
@pytest.mark.parametrize("known", [7, 60, 150])
def test_a_ping_fits_its_packet_however_much_there_is_to_tell(known: int, quiet: bool):
    swarm = Swarm(seed=1)
    swarm.add(known)
    form(swarm, members=False)
    identity = Identity(bytes(32))
    listening = swarm.bees[0].core.own_endpoints
    herald = Herald(identity, NETWORK, DhtConfig(), Reach(), listening, Random(1), member=True, quiet=quiet)
    herald.beat(swarm.now)
    assert bool(herald.raw) is not quiet
    members = Members(identity.node_id)
    rumours, rng = Rumours(members), Random(2)
    for bee in swarm.bees:
        members.add(open_heartbeat(bee.core.own_heartbeat, swarm.now, NETWORK, Reach()), swarm.now)
        if bee.index % 5 == 0:
            rumours.add(bee.node_id)
    for _ in range(20):
        partner = rng.choice([None, *(bee.node_id for bee in swarm.bees)])
        ping = make_ping(members, herald, rumours, partner, swarm.now, rng)
        assert body_size(ping) <= ROOM_BYTES
        assert ping.heartbeats
