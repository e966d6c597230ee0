"""Does the verbs about what one node keeps: store verify, store scrub."""

import time
from argparse import Namespace
from dataclasses import asdict

from dht import counted
from node.api.body import Json
from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import client, data_dir
from node.cli.http_client import HttpClient
from node.views.status import size
from store import StoreReport, check_store

LOOK_EVERY_S = 1.0
PATIENT_S = 60.0  # what is damaged comes back within seconds where other owners have it and are there


def verify(arguments: Namespace) -> int:
    """Read all that a stopped node keeps, and say what is wrong; return 1 where anything is."""
    data = data_dir(arguments)
    data.check()
    with data.lock(only_reads=True):
        report = check_store(data.store)
    if arguments.json:
        print_json({**asdict(report), "is_sound": not report.flaws})
    else:
        _print(report)
    return 1 if report.flaws else 0


def scrub(arguments: Namespace) -> int:
    """Have the running node read all that it keeps at once, saying how far it is; return 1 where anything was damaged
    and has not come back. The reading goes on where this verb is interrupted."""
    node = client(arguments, needs_token=True)
    body, before = node.post("/api/v1/scrub", {}), ""
    while not body["read_at"]:
        if (
            line := f"{body['share']:.0%} read, {counted(body['read_records'], 'record')}"
        ) != before and not arguments.json:
            print(line, flush=True)
            before = line
        time.sleep(LOOK_EVERY_S)
        body = node.get("/api/v1/status")["scrub"]
        if not body["asked_at"]:  # the node was started anew before it had read anything
            body = node.post("/api/v1/scrub", {})
    body = _healed(node, body)
    if arguments.json:
        print_json(body)
    else:
        print(_outcome(body))
    return 1 if body["open"] or body["came_back"] < body["damaged"] else 0


def _healed(node: HttpClient, body: Json) -> Json:
    """Wait for what is damaged to come back, as long as something does."""
    left, waited_s = body["open"], 0.0
    while left and waited_s < PATIENT_S:
        time.sleep(LOOK_EVERY_S)
        body = node.get("/api/v1/status")["scrub"]
        waited_s = waited_s + LOOK_EVERY_S if body["open"] >= left else 0.0
        left = min(left, body["open"])
    return body


def _outcome(body: Json) -> str:
    line = f"{counted(body['read_records'], 'record')} read, former versions included; {body['damaged']:,} damaged"
    if body["damaged"]:
        line += f", {body['came_back']:,} of them fetched again from other owners"
    if body["open"]:
        return f"{line}; {body['open']:,} still missing: `dse-node status` shows the progress"
    return line


def _print(report: StoreReport) -> None:
    facts = [
        ("segments", f"{report.segments:,}, {size(report.bytes)}"),
        ("frames", f"{report.frames:,}"),
        ("records", f"{report.records:,}, former versions included"),
        ("index", counted(report.rows, "row")),
    ]
    if report.torn_bytes:
        facts.append(("torn", f"{size(report.torn_bytes)} left by a crash; the next start removes them"))
    print_facts(facts)
    for flaw in report.flaws:
        print(f"{flaw.what}: {flaw.count:,} ({flaw.where}); {flaw.remedy}")
    print("flaws found" if report.flaws else "no flaws")
