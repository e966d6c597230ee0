"""Run 50 whole nodes in one process for some virtual minutes, and print what became of them as JSON.

    .venv/bin/python examples/simulate_50_nodes.py
    .venv/bin/python examples/simulate_50_nodes.py --nodes 12 --hours 0.1 --seed 7

They crawl a scripted web, one of them dies every ten minutes, and at half time a new strategy is signed. The same seed
gives the same `trace_hash`. Exits with 1 where a document was lost or a slot had two holders.
"""

import argparse
import json
import sys

from node.extras.simulation.conditions import Conditions
from node.extras.simulation.trial import run_trial


def main() -> int:
    """Run the trial and print its report."""
    parser = argparse.ArgumentParser(description="simulate a network on virtual time")
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--hours", type=float, default=0.1, help="of the nodes' time")
    parser.add_argument("--seed", type=int, default=1, help="decides everything that is left to chance")
    arguments = parser.parse_args()
    report = run_trial(Conditions(arguments.nodes, arguments.hours, arguments.seed, loss=0.02))
    print(json.dumps(report, indent=2))
    return 1 if report["documents"]["lost"] or report["leases"]["double_connected"] else 0


if __name__ == "__main__":
    sys.exit(main())
