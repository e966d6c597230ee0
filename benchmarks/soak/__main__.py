"""Runs the blocks of a soak that are missing, draws all of them, and says what grows.

The exit code is 1 where something grows, a query failed or a killed node's directory was not sound. A block that is
interrupted loses only itself: a later call with the same folder goes on where the last block ended.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from benchmarks.soak.blocks import added, keep, kept, starts
from benchmarks.soak.figure import draw
from benchmarks.soak.growth import LIMITS, Growth, judged
from benchmarks.soak.running import SoakPlan, soak

BLOCK_HOURS = 2.0
LEAST_BLOCK_S = 60.0


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=12.0, help="of all blocks together")
    parser.add_argument("--now", type=float, default=float("inf"), help="hours of this call, at most")
    parser.add_argument("--rate", type=float, default=8.0, help="queries a second, over all nodes")
    parser.add_argument("--out", type=Path, default=Path("build/soak"), help="folder for data, blocks and the figure")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    left_s = given.now * 3600
    while (block_s := min(left_s, BLOCK_HOURS * 3600, missing_s(given.out, given.hours))) >= LEAST_BLOCK_S:
        print(f"block {len(kept(given.out)) + 1}: five nodes for {block_s / 60:.0f} minutes; {given.out}", flush=True)
        keep(asyncio.run(soak(SoakPlan(seconds=block_s, rate=given.rate), given.out)), given.out)
        left_s -= block_s
    return 0 if report(given.out) else 1


def missing_s(folder: Path, hours: float) -> float:
    """Return how much is missing of so many hours."""
    return hours * 3600 - sum(block.seconds for block in kept(folder))


def report(folder: Path) -> bool:
    """Draw all blocks, print what they saw, and tell whether all of it is as it should be."""
    blocks = kept(folder)
    whole = added(blocks)
    (folder / "soak.svg").write_text(draw(whole.series, "What five nodes use over time"))
    grown = living(judged(whole.series, starts(blocks)))
    for each in grown:
        print(each)
    for line in (*whole.reasons, *whole.unsound):
        print(line)
    print(
        f"{len(blocks)} blocks, {whole.seconds / 3600:.2f} h; {whole.asked} queries, {whole.failed} failed, "
        f"{whole.partial} partial; {whole.kills} kills, {len(whole.unsound)} directories not sound; "
        f"load {mean(whole.series['load']['machine']):.1f}; {folder / 'soak.svg'}",
        flush=True,
    )
    return not (whole.failed or whole.unsound or any(each.is_too_much for each in grown))


def living(grown: list[Growth]) -> list[Growth]:
    """Leave out the node that is killed all the time, and figures that are only drawn."""
    killed = max(each.node for each in grown if each.node.startswith("node-"))
    return [each for each in grown if each.figure in LIMITS and each.node != killed]


def mean(points: list[tuple[float, float]]) -> float:
    """Return the mean of a figure over time."""
    return sum(value for _, value in points) / len(points)


if __name__ == "__main__":
    sys.exit(main())
