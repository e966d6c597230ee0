"""The supervisor: a task that fails runs again, more and more seldom, and its owner reads of it until it runs well."""

import asyncio
import errno
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dht import BrokenFile, FaultSite, LocalFaults, MachineRefuses, Now, PortMissing, Supervisor
from dht.local_faults import CALM_S
from dht.supervisor import FIRST_REST_S, LOGGED_S, MOST_REST_S, STRICT, WELL_S, NoteRefusal
from node.extras.simulation.loop import SimLoop

REFUSED = MachineRefuses("disk", "full", "free some space")
TAKEN = PortMissing("TCP 127.0.0.1 port 8091", "the port is in use", "stop the other program")


def clock() -> Now:
    now = asyncio.get_running_loop().time()
    return Now(1e9 + now, now)


class Task:
    """An upkeep task that raises these errors, one a run, and then works until it is cancelled."""

    def __init__(self, *errors: BaseException | None) -> None:
        self.errors, self.began_at = list(errors), list[float]()

    async def run(self) -> None:
        self.began_at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.5)
        if self.errors:
            if (error := self.errors.pop(0)) is not None:
                raise error
            return
        await asyncio.Event().wait()


def supervised(
    task: Task,
    judge: Callable[[LocalFaults], Awaitable[None]],
    *,
    name: str = "meter",
    strict: bool = False,
    note_refusal: NoteRefusal | None = None,
) -> None:
    """Run a task, and judge beside it; then all is cancelled."""

    async def main() -> None:
        faults = LocalFaults(clock)
        async with asyncio.TaskGroup() as tasks:
            running = (STRICT if strict else Supervisor(faults)).start(tasks, name, task.run, note_refusal)
            await judge(faults)
            running.cancel()

    SimLoop().run(main())


def test_a_task_that_fails_once_runs_again_and_its_owner_reads_so_until_it_runs_well() -> None:
    task = Task(KeyError("row"))

    async def judge(faults: LocalFaults) -> None:
        await asyncio.sleep(2.0)
        (fault,) = faults.present()
        assert fault.site == FaultSite.TASKS and fault.cause == "task meter: KeyError: 'row'" and fault.remedy
        await asyncio.sleep(WELL_S - 2.0)
        assert faults.present(), "it has not run for long enough"
        await asyncio.sleep(FIRST_REST_S + CALM_S)
        assert not faults.present()

    supervised(task, judge)
    assert task.began_at == [0.0, 0.5 + FIRST_REST_S]


def test_a_task_that_fails_for_ever_is_tried_ever_more_seldom_and_logged_now_and_then(
    caplog: pytest.LogCaptureFixture,
) -> None:
    task = Task(*[OSError(errno.EMFILE, "Too many open files") for _ in range(1000)])

    async def judge(faults: LocalFaults) -> None:
        await asyncio.sleep(2 * LOGGED_S)
        (fault,) = faults.present()
        assert fault.cause == "task meter: too many open files" and "ulimit -n" in fault.remedy

    supervised(task, judge)
    rests = [later - before - 0.5 for before, later in zip(task.began_at, task.began_at[1:], strict=False)]
    assert rests[:7] == pytest.approx([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, MOST_REST_S])
    assert max(rests) == pytest.approx(MOST_REST_S)
    failed = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(failed) == 2 and all(record.exc_info for record in failed), "one traceback in LOGGED_S"


def test_errors_in_a_group_of_tasks_count_as_any_other() -> None:
    task = Task(ExceptionGroup("tasks", [ValueError("one"), ExceptionGroup("inner", [KeyError("two")])]))

    async def judge(faults: LocalFaults) -> None:
        await asyncio.sleep(3.0)
        assert "ValueError: one" in faults.present()[0].cause

    supervised(task, judge)
    assert len(task.began_at) == 2


def test_a_task_that_returns_is_over() -> None:
    async def judge(faults: LocalFaults) -> None:
        await asyncio.sleep(100.0)

    task = Task(None)
    supervised(task, judge)
    assert task.began_at == [0.0]


@pytest.mark.parametrize(
    ("error", "name", "strict"),
    [
        (BrokenFile("catalog", "damaged", "start again"), "meter", False),
        (ExceptionGroup("tasks", [KeyError("row"), BrokenFile("catalog", "damaged", "start again")]), "meter", False),
        (KeyError("row"), "meter", True),
    ],
    ids=["damage", "damage among others", "without restarts"],
)
def test_what_ends_a_process_passes(error: Exception, name: str, strict: bool) -> None:
    async def judge(faults: LocalFaults) -> None:
        await asyncio.sleep(100.0)

    task = Task(error)
    with pytest.raises(ExceptionGroup) as raised:
        supervised(task, judge, name=name, strict=strict)
    assert raised.value.exceptions == (error,) and task.began_at == [0.0]


def test_a_port_is_asked_for_again_once_the_node_has_had_it() -> None:
    async def judge(faults: LocalFaults) -> None:
        await asyncio.sleep(20.0)
        assert "in use" in faults.present()[0].cause

    task = Task(KeyError("row"), TAKEN, TAKEN)
    supervised(task, judge)
    assert len(task.began_at) == 4
    with pytest.raises(ExceptionGroup):
        supervised(Task(TAKEN), judge)


def test_an_error_of_one_connection_costs_that_one_alone_and_its_owner_reads_of_it_for_a_minute() -> None:
    broken, well = Task(KeyError("row")), Task()

    async def main() -> None:
        faults = LocalFaults(clock)
        supervisor = Supervisor(faults)
        async with asyncio.TaskGroup() as tasks:
            supervisor.start_once(tasks, "greet", broken.run)
            other = supervisor.start_once(tasks, "greet", well.run)
            await asyncio.sleep(WELL_S)
            (fault,) = faults.present()
            assert fault.cause == "task greet: KeyError: 'row'"
            await asyncio.sleep(1.0 + CALM_S)
            assert not faults.present() and not other.done() and len(broken.began_at) == 1
            supervisor.start_once(tasks, "greet", Task(BrokenFile("catalog", "damaged", "start again")).run)

    with pytest.raises(ExceptionGroup) as raised:
        SimLoop().run(main())
    assert raised.group_contains(BrokenFile)


def test_whoever_knows_better_shows_what_the_machine_refused() -> None:
    task, told = Task(REFUSED, ExceptionGroup("tasks", [REFUSED])), list[MachineRefuses]()

    async def judge(faults: LocalFaults) -> None:
        await asyncio.sleep(10.0)
        assert not faults.present()

    supervised(task, judge, strict=True, note_refusal=told.append)
    assert told == [REFUSED, REFUSED] and len(task.began_at) == 3


ROOT = Path(__file__).parents[2]
PROGRAM = """
import asyncio, sys, uvloop
from dht import when_told_to_stop

async def main():
    task = asyncio.current_task()
    when_told_to_stop(task.cancel)
    print("ready", flush=True)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        await asyncio.sleep(0.2)  # a clean stop takes its time
        print("clean", flush=True)

with asyncio.Runner(loop_factory=uvloop.new_event_loop if sys.argv[1] == "uvloop" else None) as runner:
    runner.run(main())
sum(range(3_000_000))  # what a process does after its loop
print("over", flush=True)
"""


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_presses_until_it_ends_gets_a_clean_stop(loop: str, number: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, loop]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for _ in range(3000):
            process.send_signal(number)
            try:
                process.wait(0.01)
                break
            except subprocess.TimeoutExpired:
                continue
        said, errors = process.communicate(timeout=120)
    assert (process.returncode, said, errors) == (0, "clean\nover\n", "")
