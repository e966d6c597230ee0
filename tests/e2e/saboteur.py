"""`dse-node`, all of whose tasks break at a word: run as `python saboteur.py FOLDER run …`.

While the file `break` lies in FOLDER, tasks of each kind break where they wait: the future that they wait for has an
error. The file says how often each kind breaks. The file `broken` lists all kinds that were seen, with their counts.
"""

import asyncio
import json
import re
import sys
import types
from collections import Counter
from pathlib import Path
from typing import Any

from node.cli.main import main
from node.process import run_node

LOOK_S = 0.02
OF_LIBRARIES = (
    "saboteur",
    "unnamed RequestHandler",
    "unnamed ClientRequest",
    "unnamed staggered_race",
    "unnamed _wait_for",
)


def kind_of(task: "asyncio.Task[Any]") -> str:
    """The name of a task without numbers and keys."""
    name = re.sub(r"-?([0-9a-f]{8,}|[0-9]+)$", "", task.get_name())
    return name if name != "Task" else f"unnamed {getattr(task.get_coro(), '__qualname__', '')}"


def breaks(task: "asyncio.Task[Any]") -> bool:
    """Break a task where it waits; False where it is about to run, rests after an error, or waits for others."""
    at: Any = task.get_coro()
    names = [at.__qualname__]
    while isinstance(at, types.CoroutineType) and isinstance(at.cr_await, types.CoroutineType):
        names.append((at := at.cr_await).__qualname__)
    awaited = getattr(task, "_fut_waiter", None)
    if awaited is None or awaited.done() or isinstance(awaited, asyncio.Task):
        return False
    if names[-1] == "TaskGroup.__aexit__" or names == ["Supervisor._keep", "sleep"]:
        return False
    if names[-1] == "Listener.accept":  # as the loop does when it raises itself
        asyncio.get_running_loop().remove_reader(at.cr_frame.f_locals["listening"])
    awaited.set_exception(KeyError("broken by the test"))
    return True


async def sabotage(folder: Path) -> None:
    """Look for the word, for ever."""
    broken = Counter[str]()
    while True:
        times = int((folder / "break").read_text()) if (folder / "break").exists() else 0
        for task in asyncio.all_tasks():
            kind = kind_of(task)
            if not kind.startswith(OF_LIBRARIES):
                broken[kind] += broken[kind] < times and breaks(task)
        (folder / "broken.new").write_text(json.dumps(broken))
        (folder / "broken.new").rename(folder / "broken")
        await asyncio.sleep(LOOK_S)


if __name__ == "__main__":
    serve, place = run_node._serve, Path(sys.argv.pop(1))

    async def served(*given: Any) -> None:
        beside = asyncio.get_running_loop().create_task(sabotage(place), name="saboteur")
        try:
            await serve(*given)
        finally:
            beside.cancel()

    run_node._serve = served
    sys.exit(main())
