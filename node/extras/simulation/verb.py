"""Does the verb simulate: many nodes in one process under virtual time."""

from argparse import Namespace
from typing import Any

from node.cli.commands.output import print_facts, print_json
from node.extras.simulation.conditions import WHOLE_NODES, Conditions
from node.extras.simulation.swarm_trial import run_swarm_trial
from node.extras.simulation.trial import run_trial


def simulate(arguments: Namespace) -> int:
    """Run the standard trial and print its figures; return 1 where a document was lost or a slot had two holders."""
    chosen = (arguments.churn, arguments.partition, arguments.nat)
    asked = Conditions(arguments.nodes, arguments.hours, arguments.seed, arguments.loss, *chosen)
    report = run_trial(asked) if asked.nodes <= WHOLE_NODES else run_swarm_trial(asked)
    if arguments.json:
        print_json(report)
    else:
        print_facts(_facts(report))
    return 1 if report["documents"]["lost"] or report["leases"]["double_connected"] else 0


def _speed(report: dict[str, Any]) -> str:
    return f"{report['simulated_s'] / max(0.1, report['wall_s']):.1f} times as fast as real time"


def _agreement(teams: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how far teams agreed after a return; nothing where the time was too short for one."""
    if teams["agree_5s"] is None or teams["agree_10s"] is None:
        return []
    return [("teams", f"least agreement after a return: {teams['agree_5s']} at 5 s, {teams['agree_10s']} at 10 s")]


def _facts(report: dict[str, Any]) -> list[tuple[str, str]]:
    teams, documents, lookups, leases = (report[name] for name in ("teams", "documents", "lookups", "leases"))
    who = f"{report['nodes']} {report['what']}" if report["what"] == "overlays" else f"{report['nodes']}, whole"
    found = [
        ("nodes", f"{who}, for {report['simulated_s']:,.0f} s of their time, seed {report['seed']}"),
        ("took", f"{report['wall_s']:.1f} s, {_speed(report)}"),
        (
            "lookups",
            f"{lookups['count']}, {lookups['ok']} right, {lookups['p50_ms']} ms, {lookups['p95_ms']} ms at 95 %",
        ),
        *_agreement(teams),
        ("strategy", f"a new version reached all within {report['strategy']['spread_s']} s"),
        ("traffic", f"{report['traffic']['packets_per_node_s']} packets and messages a node and second"),
    ]
    if documents["written"] is not None:
        lost, thin = documents["lost"], documents["under_replicated"]
        two = f"{leases['double_connected']} slot-seconds with two holders, {leases['double_across_cut']} across a cut"
        found += [
            ("documents", f"{documents['written']:,} kept, {lost} lost, {thin} thin"),
            ("leases", two),
            ("balance", f"{report['balance']['max_over_mean']} times the mean on the fullest node"),
        ]
    return [*found, ("trace", report["trace_hash"])]
