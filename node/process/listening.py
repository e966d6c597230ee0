"""Chooses where a node listens to its peers: the families that are configured and that this system knows."""

import socket

from dht import Endpoint
from node.config.settings import NodeConfig
from node.errors import ConfigError


def listening(config: NodeConfig) -> tuple[Endpoint, ...]:
    """Return where to listen: an endpoint for each family that is configured and that this system knows at all. Whether
    it leads anywhere is found out while the node runs."""
    hosts = {4: config.listen_v4, 6: config.listen_v6}
    families = [family for family in sorted(config.families) if is_known(family)]
    if not families:
        wanted = " and ".join(f"IPv{family}" for family in sorted(config.families))
        raise ConfigError("node.families", f"{wanted}, which this system lacks", "take 4, 6 or both, as it has")
    return tuple(Endpoint(hosts[family], config.peer_port, config.peer_port) for family in families)


def is_known(family: int) -> bool:
    """Tell whether this system can bind a socket of a family at all; nothing follows about where that leads."""
    kind, host = (socket.AF_INET6, "::") if family == 6 else (socket.AF_INET, "0.0.0.0")
    try:
        with socket.socket(kind, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True
