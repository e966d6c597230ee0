"""Prints for every benchmark: rows of figures beside their goals, on which machine and with which versions.

A benchmark is a program, `python -m benchmarks.NAME [--quick] [--json]`. It makes `Row`s and hands them to `show`; its
exit code is 0 whether goals are met or not, because a figure is news, not a failure.
"""

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `ours`: the median over all seeds; `spread`: least and most over them. `peer`: what another
    program does on the same input, or why it cannot. `ratio`: ours / peer. `met`: whether the worst seed meets the
    goal; None without a goal. `missed_by`: how much the worst seed lacks, for the
    table."""

    what: str
    ours: float | None
    peer: float | str | None
    ratio: float | None
    unit: str
    spread: tuple[float, float] | None
    goal: str
    met: bool | None
    missed_by: float | None = None


def row(
    what: str,
    values: Iterable[float],
    unit: str,
    *,
    goal: float | None = None,
    at_least: bool = False,
    peer: Iterable[float] | str | None = None,
) -> Row:
    """Make a row of one value a seed. `goal`: the value's upper bound, or its lower one (`at_least`)."""
    found = sorted(values)
    if isinstance(peer, str) or peer is None:
        other: float | str | None = peer
    else:
        other = round(median(peer), 4)
    if not found:
        return Row(what, None, other, None, unit, None, _goal(goal, at_least), None if goal is None else False)
    ours = median(found)
    ratio = round(ours / other, 4) if isinstance(other, float | int) and other else None
    met = None if goal is None else found[0] >= goal if at_least else found[-1] <= goal
    spread = (round(found[0], 4), round(found[-1], 4))
    missed_by = round(goal - found[0] if at_least else found[-1] - goal, 4) if goal is not None and not met else None
    return Row(what, round(ours, 4), other, ratio, unit, spread, _goal(goal, at_least), met, missed_by)


def parser_for(description: str) -> argparse.ArgumentParser:
    """Return a parser with `--quick` and `--json`; more may be added."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer seeds and smaller networks; ends within 60 s")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    return parser


def report(name: str, rows: Sequence[Row], packages: Sequence[str]) -> dict[str, object]:
    """Return the JSON object of a benchmark."""
    return {
        "name": name,
        "commit": commit(),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **{package: _version(package) for package in packages}},
        "rows": [{key: value for key, value in asdict(each).items() if key != "missed_by"} for each in rows],
    }


def show(
    name: str, rows: Sequence[Row], packages: Sequence[str], *, as_json: bool, spread: str = "least … most"
) -> None:
    """Print a benchmark's figures. `spread`: what the spread of its rows is."""
    if as_json:
        print(json.dumps(report(name, rows, packages), indent=1, ensure_ascii=False))
        return
    where = machine()
    print(f"{name}, commit {commit() or 'unknown'}, {where['system']}, {where['cores']} cores of {where['processor']}")
    table = [("what", f"ours ({spread})", "peer", "ratio", "goal", "met")]
    table += [_cells(each) for each in rows]
    widths = [max(len(line[n]) for line in table) for n in range(len(table[0]))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def machine() -> dict[str, object]:
    """Describe the machine that the figures were taken on."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def commit() -> str | None:
    """Return the commit of this source tree, with + where files differ from it; None outside of git."""
    try:
        git = ["git", "-C", str(ROOT)]
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        dirty = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.strip() + ("+" if dirty.stdout.strip() else "")


def _cells(each: Row) -> tuple[str, ...]:
    spread = f" ({_number(each.spread[0])} … {_number(each.spread[1])})" if each.spread else ""
    ours = f"{_number(each.ours)} {each.unit}{spread}" if each.ours is not None else "-"
    peer = each.peer if isinstance(each.peer, str) else _number(each.peer)
    met = "" if each.met is None else "yes" if each.met else f"no{_missed(each)}"
    return each.what, ours, peer, _number(each.ratio), each.goal, met


def _missed(each: Row) -> str:
    return "" if each.missed_by is None else f", by {_number(each.missed_by)}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def _goal(goal: float | None, at_least: bool) -> str:
    return "" if goal is None else f"{'≥' if at_least else '≤'} {_number(goal)}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
