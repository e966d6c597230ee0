"""Describes the verb simulate for the command line; `node/extras/__init__.py` names this module."""

from node.cli.argument_types import Between, Share, lengths
from node.cli.verb_building import Verbs, add_json, add_verb


def add_verbs(verbs: Verbs) -> None:
    """Add the verb simulate."""
    example = "dse-node simulate --nodes 50 --hours 1 --seed 7"
    simulate = add_verb(
        verbs,
        "simulate",
        "node.extras.simulation.verb:simulate",
        "run many nodes in memory under virtual time",
        example,
    )
    about = "number of nodes (default 50); above 200 only their overlays run"
    simulate.add_argument("--nodes", type=Between(1, 5000), default=50, metavar="N", help=about)
    simulate.add_argument("--hours", type=Share(1000.0), default=1.0, metavar="H", help="virtual hours (default 1)")
    simulate.add_argument("--seed", type=int, default=1, metavar="S", help="random seed (default 1)")
    simulate.add_argument("--loss", type=Share(0.5), default=0.0, metavar="P", help="share of lost packets (default 0)")
    simulate.add_argument("--churn", type=lengths, metavar="S,A", help="mean session and absence, such as 8h,16h")
    simulate.add_argument("--partition", type=lengths, metavar="T,L", help="split in halves after T, for L: 1h,10m")
    simulate.add_argument("--nat", type=Share(0.9), default=0.0, metavar="P", help="share behind a NAT (default 0)")
    add_json(simulate)
