"""Runs the soak, writes its figure and its samples, and says what grows; the exit code is 1 where something does."""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.soak.figure import draw
from benchmarks.soak.growth import LIMITS, Growth, judged
from benchmarks.soak.running import SoakPlan, SoakRecord, soak


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=12.0)
    parser.add_argument("--rate", type=float, default=8.0, help="queries a second, over all nodes")
    parser.add_argument("--restart-minutes", type=float, default=30.0, help="between two kills of the last node")
    parser.add_argument("--out", type=Path, default=None, help="folder for the figure, samples and logs")
    given = parser.parse_args()
    folder = given.out or Path(tempfile.mkdtemp(prefix="dse-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    plan = SoakPlan(seconds=given.hours * 3600, rate=given.rate, restart_s=given.restart_minutes * 60)
    print(f"five nodes for {given.hours:g} h, {given.rate:g} queries a second; files: {folder}", flush=True)
    record = asyncio.run(soak(plan, folder))
    grown = report(record, folder)
    return 1 if record.failed or any(each.is_too_much for each in grown) else 0


def report(record: SoakRecord, folder: Path) -> list[Growth]:
    """Write the figure and the samples into a folder, print what grew how fast, and return that."""
    (folder / "soak.json").write_text(json.dumps(record.series))
    (folder / "soak.svg").write_text(draw(record.series, "What five nodes use over time"))
    grown = judged(record.series, record.began_at)
    for each in grown:
        if each.figure in LIMITS:
            print(each)
    print(
        f"{record.asked} queries, {record.failed} failed, {record.partial} partial; {folder / 'soak.svg'}", flush=True
    )
    return grown


if __name__ == "__main__":
    sys.exit(main())
