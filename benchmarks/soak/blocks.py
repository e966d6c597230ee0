"""Adds up the blocks of a soak: each leaves one file in the folder, and an interrupted one leaves none."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.soak.running import SoakRecord


def keep(record: SoakRecord, folder: Path) -> None:
    """Write what a finished block saw into the folder, after the blocks that are there."""
    unfinished = folder / "block.unfinished"
    unfinished.write_text(json.dumps(asdict(record)))
    unfinished.rename(folder / f"block-{len(kept(folder)) + 1:03}.json")


def kept(folder: Path) -> list[SoakRecord]:
    """Return the finished blocks in a folder, in their order."""
    return [SoakRecord(**json.loads(path.read_text())) for path in sorted(folder.glob("block-*.json"))]


def starts(blocks: Sequence[SoakRecord]) -> list[float]:
    """Return the second at which each block begins when one follows the other without a pause."""
    return [sum(block.seconds for block in blocks[:number]) for number in range(len(blocks))]


def added(blocks: Sequence[SoakRecord]) -> SoakRecord:
    """Return one record of all blocks, one after the other."""
    whole = SoakRecord()
    for block in blocks:
        for figure, nodes in block.series.items():
            for node, points in nodes.items():
                for at_s, value in points:
                    whole.add(figure, node, whole.seconds + at_s, value)
        whole.seconds += block.seconds
        whole.asked += block.asked
        whole.failed += block.failed
        whole.partial += block.partial
        whole.kills += block.kills
        whole.reasons += block.reasons
        whole.unsound += block.unsound
    return whole
