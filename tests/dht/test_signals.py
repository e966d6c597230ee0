"""Signals until a process ends, on both event loops that we run on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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
