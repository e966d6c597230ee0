"""Runs a benchmark on this checkout and on another commit, by turns, and compares the medians.

    python -m benchmarks.turns COMMIT [--rounds N] BENCHMARK [ARGUMENTS…]

for example `python -m benchmarks.turns d26fdaba crawl --quick --part ratio`. The other commit is checked out beside,
its leaves compiled where it has any, and removed at the end. Each commit runs with its own benchmark, or with that of
this checkout where it has none of that name, and both with the libraries of this environment. A turn
is one run of each, so that a machine that slows down slows both. A figure counts where both have a row of its name:
the name of a row ends at its first bracket, since numbers in brackets may differ.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from statistics import median

from benchmarks.figures import ROOT, Row, row, show

ROUNDS = 3
WITHIN_S = 1800.0  # for one run
COMPILE = """
from pathlib import Path
from hatch_build import ROOMS, compile_leaf
for room in ROOMS:
    compile_leaf(Path.cwd(), room, Path.cwd() / room)
"""

Figures = Mapping[str, tuple[float, str]]  # of a run, by the rows' names: value and unit


def main() -> int:
    """Measure by turns, print a table; return 0 whatever it says."""
    parser = argparse.ArgumentParser(description="compares a benchmark's figures with another commit's, by turns")
    parser.add_argument("commit", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="runs of each")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("benchmark", help="its name: crawl is benchmarks.crawl")
    chosen, arguments = parser.parse_known_args()
    with checked_out(chosen.commit) as tree:
        complete(tree, chosen.benchmark)
        turns = [
            (figures_of(ROOT, chosen.benchmark, arguments), figures_of(tree, chosen.benchmark, arguments))
            for _ in range(chosen.rounds)
        ]
    show(f"{chosen.benchmark}; peer: {chosen.commit}", rows_of(turns), (), as_json=chosen.json)
    return 0


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Yield a folder that holds this commit until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="dse-turns-", ignore_cleanup_errors=True) as name:
        tree = Path(name) / "tree"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def complete(tree: Path, benchmark: str) -> None:
    """Compile a checkout's leaves, as an install does, and give it this checkout's benchmarks where it lacks one."""
    if (tree / "hatch_build.py").is_file():
        done = subprocess.run([sys.executable, "-c", COMPILE], cwd=tree, capture_output=True, text=True)
        if done.returncode:
            print(f"the other commit goes without its leaves: {done.stderr[-200:]}", file=sys.stderr)
    place = tree / "benchmarks" / benchmark.replace(".", "/")
    if not place.is_dir() and not place.with_suffix(".py").is_file():
        copytree(ROOT / "benchmarks", tree / "benchmarks", dirs_exist_ok=True)


def figures_of(tree: Path, benchmark: str, arguments: Sequence[str]) -> Figures:
    """Run the benchmark of a checkout; return its figures."""
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", *arguments, "--json"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=WITHIN_S)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[1:])} in {tree} ended with {done.returncode}: {done.stderr[-500:]}")
    told = json.loads(done.stdout[done.stdout.index("{") :])["rows"]
    return {each["what"].partition(" (")[0]: (each["ours"], each["unit"]) for each in told if each["ours"] is not None}


def rows_of(turns: Sequence[tuple[Figures, Figures]]) -> list[Row]:
    """Return a row for each figure that every run has: this checkout's, the other commit's as peer, and their ratio."""
    runs = [run for turn in turns for run in turn]
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return [_row(name, turns) for name in names]


def _row(name: str, turns: Sequence[tuple[Figures, Figures]]) -> Row:
    theirs = median(there[name][0] for _, there in turns)
    return row(name, [here[name][0] for here, _ in turns], turns[0][0][name][1], peer=[theirs])


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
