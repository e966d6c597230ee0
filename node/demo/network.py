"""Makes the demo's own network: a fresh publisher key, a signed strategy, a network file.

The strategy says what the demo may crawl: the hosts of its web, and nothing of the real one.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from bootstrap import new_network
from dht import Identity, Rule, Strategy
from index import NEWEST_RULES
from node.demo.layout import SLOT_BITS, DemoNode

VALID_S = 30 * 86_400
REPLICAS = 3
MIN_ACKS = 2


def write_network(
    path: Path, nodes: Sequence[DemoNode], hosts: Iterable[str], delay_s: float, copies: int = REPLICAS
) -> Path:
    """Make a network for these nodes and hosts; return the path of its file. `delay_s`: its politeness rule,
    `copies`: replicas of everything."""
    publisher = Identity.generate()
    publisher.save(path.with_suffix(".publisher.key"))
    now = int(time.time())
    replicas = min(copies, len(nodes))
    strategy = Strategy(
        network="",
        version=1,
        effective_at=now,
        expires_at=now + VALID_S,
        next_at=now + VALID_S // 2,
        replicas=copies,
        slot_bits=SLOT_BITS,
        min_acks=min(MIN_ACKS, replicas),
        analyzer=NEWEST_RULES.analyzer.number,
        ranking=NEWEST_RULES.ranking.number,
        rules=(*(Rule(host=host) for host in sorted(hosts)), Rule(action="deny")),
        min_delay_s=delay_s,
        max_delay_s=10.0,
        admission="attested",
        grants_from=1,
        declared_prefixes=("127.0.0.0/8", "::1/128"),
    )
    bootstrap = [address for node in nodes[:2] for address in node.bootstrap]
    path.write_text(new_network("demo", [publisher], strategy, bootstrap=bootstrap))
    return path
