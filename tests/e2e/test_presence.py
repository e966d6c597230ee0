"""A clock that is off, a frozen peer, a newcomer that finds nobody: named for real, and in nobody's way."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from machines import ROOT, Machine, dse_node, linked, start_all, village, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.prove]
WEB = {"town.test": linked(["library", "pool", "museum"], "town.test", "town.test")}
NAMED_WITHIN_S, HANDED_IN_WITHIN_S = 30.0, 2.0
HOUR_LATE = (
    "import sys, time; t = time.time; time.time = lambda: t() - 3600.0; "
    "from node.cli.main import main; sys.exit(main(['run', '--data-dir', 'node']))"
)


def warned(machine: Machine, pattern: str) -> bool:
    return any(re.search(pattern, warning) for warning in machine.status()["warnings"])


def has_all_slots(machine: Machine) -> bool:
    slots = machine.status()["slots"]
    return bool(slots["owned"]) and slots["ready"] >= slots["owned"]


def begin_an_hour_late(machine: Machine) -> None:
    """`dse-node run` on a machine whose wall clock is an hour behind."""
    environment = os.environ | {"HOME": str(machine.home), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with (machine.home / "log").open("ab") as log:
        machine.process = subprocess.Popen(
            [sys.executable, "-c", HOUR_LATE],
            cwd=machine.home,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def test_wrong_clocks_frozen_peers_and_lost_newcomers(tmp_path: Path) -> None:
    with village(tmp_path, WEB, 26300, most=6) as town:
        contact = f"127.0.0.1:{town.ports[-1]}"
        new = ("network", "new", "campus", "--out", "campus.toml", "--bootstrap", contact)
        assert dse_node(*new, home=tmp_path).returncode == 0
        four = [town.add(name, "node.families=[4]") for name in ("one", "two", "three", "four")]
        late = town.add("late", "node.families=[4]")
        start_all(four)
        for machine in four:
            wait_until("each sees four", lambda m=machine: len(m.get("/api/v1/peers")["peers"]) == 4)

        begin_an_hour_late(late)
        wait_until("the page is there", late.is_up)
        wait_until("it says so itself", lambda: warned(late, r"36[01]\d s behind"), NAMED_WITHIN_S)
        assert not warned(late, "none of the addresses"), "somebody answers"
        assert not any(machine.status()["warnings"] for machine in four)
        with_words = late.get("/api/v1/search", q="library", deadline_ms=1000)
        assert not with_words["exact"] and with_words["partial"]
        code, problem = late.ask(
            "/api/v1/crawl", body=json.dumps({"urls": [f"http://town.test:{town.port}/"]}).encode()
        )
        assert code == 503 and "clock" in problem["detail"]
        late.kill()

        wait_until("all slots are ready", lambda: all(has_all_slots(m) for m in four))
        for frozen, other in zip(four, four[1:] + four[:1], strict=True):
            assert frozen.process
            os.kill(frozen.process.pid, signal.SIGSTOP)
            began = time.monotonic()
            other.do("crawl", f"http://town.test:{town.port}/?{frozen.home.name}")
            took_s = time.monotonic() - began
            found = other.get("/api/v1/search", q="library", deadline_ms=3000)
            os.kill(frozen.process.pid, signal.SIGCONT)
            assert took_s <= HANDED_IN_WITHIN_S + 1.0, (
                f"{frozen.home.name}: {took_s:.1f} s, the command's start included"
            )
            coverage = found["coverage"]
            assert coverage["answered"] == coverage["slots"], (
                f"{other.home.name} asks, {frozen.home.name} is frozen: {coverage}"
            )
            wait_until("it is back", lambda m=other: m.status()["peers"]["live"] == 3)

        four[0].stop()  # the only first contact
        lost = town.add("lost", "node.families=[4]", "node.lan_discovery=false")
        lost.start()
        wait_until("it says that it met nobody", lambda: warned(lost, "met nobody"), NAMED_WITHIN_S)
        assert lost.get("/api/v1/search", q="library", deadline_ms=1000)["coverage"]["answered"] == 0
        four[0].start()
        wait_until("it has met them", lambda: not warned(lost, "met nobody"), 90)
