"""docs/campus.md, "A third node": who goes on in networks of two and three, as their owners see it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import Machine, Village, dse_node, start_all, village, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.prove]  # silence alone takes a minute to count
GOES_ON_S = 90.0  # 60 s, and what a busy machine takes besides
AT_ONCE_S = 15.0
STILL_S = 20.0  # in which a node that waits fetches nothing
WEB = {"town.test": {f"{n}.html": f"<title>Page {n}</title><p>Page {n} of the town." for n in range(12)}}


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Village]:
    with village(tmp_path, WEB, 26500, most=3) as found:
        contact = f"127.0.0.1:{found.ports[-1]}"
        new = ("network", "new", "campus", "--out", "campus.toml", "--bootstrap", contact)
        assert dse_node(*new, home=tmp_path).returncode == 0
        yield found


def started(town: Village, *names: str) -> list[Machine]:
    """The founder and others, once each knows all and all slots have a holder."""
    machines = [town.add(name, "node.families=[4]") for name in names]
    machines[0].start()
    start_all(machines[1:])
    settle(machines)
    return machines


def settle(machines: list[Machine]) -> None:
    for machine in machines:
        wait_until("each sees all", lambda m=machine: live(m) == len(machines) - 1, 60)
    wait_until("all slots are held and alike", lambda: is_whole(machines), 90)


def is_whole(machines: list[Machine]) -> bool:
    found = [machine.status() for machine in machines]
    return sum(each["slots"]["leased"] for each in found) == found[0]["slots"]["all"] and all(s["alike"] for s in found)


def live(machine: Machine) -> int:
    return int(machine.status()["peers"]["live"])


def id_of(machine: Machine) -> str:
    return str(machine.status()["node_id"])


def reason(machine: Machine) -> str:
    return str(machine.status()["crawl"]["reason"])


def goes_on(town: Village, machine: Machine, page: int, within_s: float) -> None:
    """A page that is handed in at a machine is fetched in time."""
    machine.do("crawl", f"http://town.test:{town.port}/{page}.html")
    wait_until(f"page {page} is fetched", lambda: is_fetched(town, page), within_s)


def is_fetched(town: Village, page: int) -> bool:
    return f"http://town.test/{page}.html" in town.fetches()


def waits(town: Village, machine: Machine, others: list[str], page: int) -> None:
    """A page that is handed in is not fetched, and the machine names those for whom it waits, and what ends that."""
    wait_until("it waits", lambda: reason(machine).startswith("waits for "), GOES_ON_S)
    said = reason(machine)
    assert all(other[:12] in said for other in others)
    assert "`dse-node network begin`" in said and "`network gone`" in said
    machine.do("crawl", f"http://town.test:{town.port}/{page}.html")
    with pytest.raises(AssertionError, match="not within"):
        wait_until("it is fetched", lambda: is_fetched(town, page), STILL_S)
    assert reason(machine).startswith("waits for ")


def test_of_two_any_goes_on_after_a_farewell_and_after_silence_the_founder_alone(town: Village) -> None:
    founder, other = started(town, "one", "two")
    other.stop()
    goes_on(town, founder, 0, AT_ONCE_S)
    other.start()
    settle([founder, other])
    founder.stop()
    goes_on(town, other, 6, AT_ONCE_S)
    founder.start()
    settle([founder, other])
    other.kill()
    goes_on(town, founder, 1, GOES_ON_S)
    other.start()
    settle([founder, other])
    assert other.process
    os.kill(other.process.pid, signal.SIGSTOP)
    goes_on(town, founder, 2, GOES_ON_S)
    os.kill(other.process.pid, signal.SIGCONT)
    settle([founder, other])
    name = id_of(founder)
    assert founder.process
    os.kill(founder.process.pid, signal.SIGSTOP)
    waits(town, other, [name], 3)
    os.kill(founder.process.pid, signal.SIGCONT)
    settle([founder, other])
    founder.kill()
    waits(town, other, [name], 4)
    assert "only the node that breaks ties goes on alone" in other.do("network", "begin", "--yes", code=2)
    key = str(town.folder / "campus.publisher.key")
    assert "goes on without them" in other.do("network", "begin", "--yes", "--key", key)
    goes_on(town, other, 5, GOES_ON_S)
    founder.start()
    settle([founder, other])
    wait_until("both have all pages", lambda: {m.status()["documents"] for m in (founder, other)} == {7})
    assert len(set(town.fetches())) == len(town.fetches()), "nothing was fetched twice"


def test_of_three_two_go_on_and_the_last_only_after_farewells_or_by_its_owners_word(town: Village) -> None:
    founder, second, third = machines = started(town, "one", "two", "three")
    third.kill()
    goes_on(town, second, 0, GOES_ON_S)
    third.start()
    settle(machines)
    founder.stop()
    goes_on(town, second, 1, GOES_ON_S)
    second.stop()
    goes_on(town, third, 2, GOES_ON_S)
    founder.start()
    second.start()
    settle(machines)
    names = [id_of(second), id_of(third)]
    second.kill()
    third.kill()
    waits(town, founder, names, 3)
    assert "both sides crawl" in founder.do("network", "begin", code=2), "it names the risk before it asks"
    assert "goes on without them" in founder.do("network", "begin", "--yes")
    goes_on(town, founder, 4, GOES_ON_S)
    second.start()
    third.start()
    settle(machines)
    wait_until("all have all pages", lambda: {m.status()["documents"] for m in machines} == {5})
