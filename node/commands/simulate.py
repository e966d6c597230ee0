"""The verb simulate: many nodes in one process under virtual time."""

from argparse import Namespace
from typing import Any

from node.commands.output import print_facts, print_json
from node.simulation.trial import run_trial


def simulate(arguments: Namespace) -> int:
    """Run the standard story and print its figures; 1 where a document was lost or a slot had two holders."""
    report = run_trial(arguments.nodes, arguments.hours, arguments.seed, arguments.loss)
    if arguments.json:
        print_json(report)
    else:
        print_facts(_facts(report))
    return 1 if report["documents"]["lost"] or report["leases"]["double_connected"] else 0


def _facts(report: dict[str, Any]) -> list[tuple[str, str]]:
    teams, documents = report["teams"], report["documents"]
    return [
        ("nodes", f"{report['nodes']} for {report['simulated_s']:,.0f} s of their time, seed {report['seed']}"),
        ("took", f"{report['wall_s']:.1f} s"),
        ("documents", f"{documents['written']:,} kept, {documents['lost']} lost, {documents['under_replicated']} thin"),
        ("leases", f"{report['leases']['double_connected']} slot-seconds with two holders"),
        ("teams", f"least agreement after a return: {teams['agree_5s']} at 5 s, {teams['agree_10s']} at 10 s"),
        ("strategy", f"a new version reached all within {report['strategy']['spread_s']} s"),
        ("traffic", f"{report['traffic']['packets_per_node_s']} packets and messages a node and second"),
        ("balance", f"{report['balance']['max_over_mean']} times the mean on the fullest node"),
        ("trace", report["trace_hash"]),
    ]
