"""Lists the files that a link runs through until it is found, and those of one query.

    python -m benchmarks.walks [--list] [--seed N] [--tree DIR]

Two simulated nodes by the rules of a new network crawl a web of two hosts. The first walk begins when a node is given a
link, and ends when all that it leads to is stored, alike and indexed on both nodes. The second walk is one query, asked
of the other node, whose answer holds a page that the link leads to. A file of the product counts if one of its
functions was called during the walk, on either node, by any caller. Imports do not count, nor does the simulation
itself. Each walk also has a count of those files that do not run in an idle network within IDLE_S. All is run once
before, so that all modules are there.
"""

import argparse
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType

PACKAGES = ("dht", "crawl", "store", "index", "node", "bootstrap")
STAND_INS = ("node/extras/simulation/", "node/simulation/")
NODES, HOSTS, PAGES = 2, 2, 6
JOIN_S, IDLE_S, WITHIN_S, EVERY_S = 20.0, 60.0, 900.0, 1.0  # of virtual time


class Footprints:
    """Notes whose functions are called while it is on."""

    def __init__(self) -> None:
        self._seen: set[CodeType] = set()

    @contextmanager
    def on(self) -> Iterator[None]:
        """Note all calls, in threads that start meanwhile, too."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def off(self) -> Iterator[None]:
        """Note nothing for a moment: an observer calls."""
        sys.setprofile(None)
        try:
            yield
        finally:
            sys.setprofile(self._note)

    def files(self, root: Path) -> list[str]:
        """Return the files of the product in which a function was called; bodies of modules and classes are none."""
        called = {Path(code.co_filename) for code in self._seen if code.co_flags & CO_OPTIMIZED}
        inside = (path.relative_to(root).as_posix() for path in called if path.is_relative_to(root))
        return sorted(each for each in inside if each.split("/")[0] in PACKAGES and not each.startswith(STAND_INS))

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)


def walk(seed: int) -> tuple[Footprints, Footprints, Footprints]:
    """Return the footprints of an idle network, of a link and of a query."""
    from index import SearchRequest

    try:
        from node.extras.simulation import census, world
    except ModuleNotFoundError:  # where the simulation was no extra yet
        from node.simulation import census, world  # type: ignore[no-redef]

    idle, link, query = Footprints(), Footprints(), Footprints()

    async def scenario(there: world.World) -> None:
        await there.add(NODES)
        await there.pass_time(JOIN_S)
        with idle.on():
            await there.pass_time(IDLE_S)

        def is_over() -> bool:
            with link.off():
                return census.is_idle(there.running()) and census.is_settled(there.running())

        with link.on():
            await there.crawl()
            await there.pass_time(JOIN_S)
            await there.until(is_over, WITHIN_S, EVERY_S)
        texts = census.take_census(there.running()).texts
        url, text = max((url, text) for url, text in texts.items() if url != there.web.seed_url)
        asked = there.running()[-1].node_core.index.searcher
        request = SearchRequest(" ".join(text.body.split()[:2]), limit=10)
        with query.on():
            answer = await asked.search(request)
        assert url in [each["url"] for each in answer["results"]], "the link is no hit"

    world.simulate(scenario, world.WorldPlan(seed=seed, hosts=HOSTS, pages=PAGES))
    return idle, link, query


def main() -> int:
    """Walk, and print how many files each walk runs through."""
    parser = argparse.ArgumentParser(description="lists the files that a link and a query run through")
    parser.add_argument("--list", action="store_true", help="name the files")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the web and the network")
    parser.add_argument("--tree", type=Path, default=Path.cwd(), metavar="DIR", help="the checkout that runs")
    chosen = parser.parse_args()
    root = chosen.tree.resolve()
    sys.path.insert(0, str(root))
    walk(chosen.seed)
    idle, *walks = (prints.files(root) for prints in walk(chosen.seed))
    for name, files in zip(("between a link and its hit", "in one query"), walks, strict=True):
        lines = sum((root / file).read_text("utf-8").count("\n") for file in files)
        alone = set(files) - set(idle)
        print(f"{name}: {len(files)} files of {lines:,} lines; {len(alone)} of them do not run in an idle network")
        if chosen.list:
            print("".join(f"  {file}{'' if file in alone else '  (idle, too)'}\n" for file in files), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
