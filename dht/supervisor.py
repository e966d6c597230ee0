"""The supervisor runs a node's upkeep tasks and restarts each one that an error ended.

No task ends the process by a mistake of ours. One kind of error does, with the exit code that docs/client-author.md
names: a LocalError other than MachineRefuses. That is a damaged store, a port that is taken when the node starts, or
another machine with this node's identity. Cancellation always passes.

Lets a process hear once that it should stop, by SIGINT or SIGTERM.
"""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable

from dht.errors import LocalError, MachineRefuses, PortMissing, leaves_of
from dht.local_faults import FaultSite, LocalFaults, refusal_of

log = logging.getLogger(__name__)

FIRST_REST_S, MOST_REST_S = 1.0, 60.0  # before a failed task runs again; the rest doubles from failure to failure
WELL_S = 60.0  # a task that has run so long without an error is well again
LOGGED_S = 600.0  # at most one traceback of a task within this time
REMEDY = "it is tried again; please report this with the traceback in the log"

NoteRefusal = Callable[[MachineRefuses], None]


class Supervisor:
    """Restarts tasks, and shows as a fault of this machine that some fail. One without `faults` restarts a task only
    where the machine refused something, and passes all other errors on: simulations and tests must not hide them."""

    def __init__(self, faults: LocalFaults | None = None) -> None:
        self._faults = faults
        self._failing = set[str]()
        self._logged_at: dict[str, float] = {}
        self._ends: dict[str, asyncio.TimerHandle] = {}  # of what is borne

    def start(
        self,
        tasks: asyncio.TaskGroup,
        name: str,
        run: Callable[[], Awaitable[None]],
        note_refusal: NoteRefusal | None = None,
    ) -> asyncio.Task[None]:
        """Start a task of a group that runs `run` until it returns. `note_refusal`: is told what the machine refused,
        and shows it; by default the supervisor does."""
        return tasks.create_task(self._keep(name, run, note_refusal), name=name)

    def start_once(self, tasks: asyncio.TaskGroup, name: str, run: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        """Start a task for one peer or one connection. An error costs that one alone; `name` is that of all of its
        kind."""
        return tasks.create_task(self._contain(name, run), name=name)

    async def _contain(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        try:
            await run()
        except Exception as error:
            self.bear(name, error)

    def bear(self, name: str, error: Exception) -> None:
        """Show for a minute that something failed which is not tried again. Raises an error that ends the process."""
        self._judge(name, error, 0.0, None)
        if (former := self._ends.get(name)) is not None:
            former.cancel()
        self._ends[name] = asyncio.get_running_loop().call_later(WELL_S, self._end, name)

    async def _keep(self, name: str, run: Callable[[], Awaitable[None]], note_refusal: NoteRefusal | None) -> None:
        loop, rest_s = asyncio.get_running_loop(), FIRST_REST_S / 2
        while True:
            began_at, well = loop.time(), loop.call_later(WELL_S, self._end, name)
            try:
                await run()
                return self._end(name)
            except Exception as error:
                is_new = loop.time() - began_at >= WELL_S
                rest_s = FIRST_REST_S if is_new else min(MOST_REST_S, 2 * rest_s)
                self._judge(name, error, rest_s, note_refusal)
            finally:
                well.cancel()
            await asyncio.sleep(rest_s)

    def _judge(self, name: str, error: Exception, rest_s: float, note_refusal: NoteRefusal | None) -> None:
        """Raise an error that ends the process; log and show any other."""
        leaves = list(leaves_of(error))
        refusals = [leaf for leaf in leaves if isinstance(leaf, MachineRefuses)]
        is_refusal = len(refusals) == len(leaves)
        passes = (MachineRefuses, PortMissing) if name in self._logged_at else (MachineRefuses,)
        ends = any(isinstance(leaf, LocalError) and not isinstance(leaf, passes) for leaf in leaves)
        if ends or (self._faults is None and not is_refusal):
            raise error
        if is_refusal and note_refusal is not None:
            note_refusal(refusals[0])
        elif self._faults is not None:
            self._show(name, error, leaves[0], rest_s)

    def _show(self, name: str, error: Exception, cause: BaseException, rest_s: float) -> None:
        assert self._faults is not None
        now = asyncio.get_running_loop().time()
        if now - self._logged_at.get(name, float("-inf")) >= LOGGED_S:
            self._logged_at[name] = now
            then = f"; it runs again in {rest_s:.0f} s" if rest_s else ""
            log.error("task failed name=%s%s", name, then, exc_info=error)
        self._failing.add(name)
        reason = f"{type(cause).__name__}: {cause}"
        shown = refusal_of(f"task {name}", cause) or MachineRefuses(f"task {name}", reason, REMEDY)
        self._faults.begin(FaultSite.TASKS, shown)

    def _end(self, name: str) -> None:
        """Note that a task is well; where no other fails, the fault is over."""
        if name in self._failing:
            self._failing.discard(name)
            if not self._failing and self._faults is not None:
                self._faults.end(FaultSite.TASKS)


STRICT = Supervisor()


STOPS = (signal.SIGINT, signal.SIGTERM)


def when_told_to_stop(act: Callable[[], object]) -> None:
    """Call `act` on the running loop at the first SIGINT or SIGTERM.

    Later ones do nothing: who is impatient must not end a clean stop. From then on the process ignores them, not the
    loop, so that they find nobody after the loop either."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in STOPS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)
        act()

    for number in STOPS:
        loop.add_signal_handler(number, stop)
