"""Does the verb jobs: list the crawls that were handed in at the running node, and cancel one."""

from argparse import Namespace

from dht import counted
from node.api.body import Json
from node.cli.commands.output import print_json, print_table
from node.cli.commands.target_node import client
from node.errors import NothingToDo
from node.views.safe_text import plain
from node.views.strategy import instant


def jobs(arguments: Namespace) -> int:
    """Print the last crawls and those that repeat, the newest first, or cancel one."""
    if arguments.action == "cancel":
        return _cancel(arguments)
    body = client(arguments, needs_token=True).get("/api/v1/jobs")
    if arguments.json:
        print_json(body)
    elif rows := body["jobs"]:
        print_table(("ID", "ADDED", "FIRST ADDRESS", "DEPTH", "SCOPE", "EVERY", "STATE"), [_row(job) for job in rows])
    else:
        print("No crawl job yet. Add one: dse-node crawl URL")
    return 0


def _cancel(arguments: Namespace) -> int:
    if arguments.number is None:
        raise NothingToDo("jobs cancel", "names no job", "give an ID that `dse-node jobs` lists")
    job = client(arguments, needs_token=True).post("/api/v1/jobs/cancel", {"number": arguments.number})
    if arguments.json:
        print_json(job)
        return 0
    print(f"cancelled: {plain(job['first'])} ({_counts(job)})")
    if job["waiting"]:
        left = counted(job["waiting"], "address", "addresses")
        print(f"{left} still open: other nodes hold them, or they are being fetched now")
    return 0


def _row(job: Json) -> tuple[str, ...]:
    more = f" + {job['seeds'] - 1:,}" if job["seeds"] > 1 else ""
    state = "cancelled" if job["is_cancelled"] else "done" if job["is_done"] else "under way"
    scope = plain(job["scope"]) or "whole web"
    first, day = plain(job["first"], 60), instant(job["at"])
    every, why = plain(job["every"]) or "once", f"; {plain(job['reasons'][0])}" if job["reasons"] else ""
    return str(job["number"]), day, f"{first}{more}", str(job["depth"]), scope, every, f"{state}: {_counts(job)}{why}"


def _counts(job: Json) -> str:
    others = f", {job['others']:,} others" if job["others"] else ""
    return f"{job['fetched']:,} fetched, {job['waiting']:,} waiting, {job['failed']:,} failed{others}"
