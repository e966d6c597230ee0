"""Does the verbs about what one node keeps: store verify."""

from argparse import Namespace
from dataclasses import asdict

from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import data_dir
from node.views.status import size
from store import StoreReport, check_store


def verify(arguments: Namespace) -> int:
    """Read all that a stopped node keeps, and say what is wrong; return 1 where anything is."""
    data = data_dir(arguments)
    data.check()
    with data.lock():
        report = check_store(data.store)
    if arguments.json:
        print_json({**asdict(report), "is_sound": not report.flaws})
    else:
        _print(report)
    return 1 if report.flaws else 0


def _print(report: StoreReport) -> None:
    facts = [
        ("segments", f"{report.segments:,}, {size(report.bytes)}"),
        ("frames", f"{report.frames:,}"),
        ("records", f"{report.records:,}, former versions included"),
        ("index", f"{report.rows:,} rows"),
    ]
    if report.torn_bytes:
        facts.append(("torn", f"{size(report.torn_bytes)} that a crash left; the next start cuts them off"))
    print_facts(facts)
    for flaw in report.flaws:
        print(f"{flaw.what}: {flaw.count:,} ({flaw.where}); {flaw.remedy}")
    print("something is wrong" if report.flaws else "all is sound")
