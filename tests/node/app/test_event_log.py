"""The log of a running node says what an operator would miss, once, and is silent while nothing changes."""

from dataclasses import replace

from node.app.event_log import GOES_ON_EVERY_S, EventLog, NodeState

ALONE = NodeState(at=0.0, owned=256, ready=256, crawl="idle", documents=10)


def test_a_start_alone_is_two_lines_and_then_silence() -> None:
    events = EventLog(replace(ALONE, ready=0))
    assert events.lines(ALONE) == ["slots ready count=256"]
    assert events.lines(replace(ALONE, at=2.0, is_settled=True)) == ["settled documents=10"]
    for n in range(100):
        assert events.lines(replace(ALONE, at=4.0 + n)) == []


def test_peers_come_and_go_by_name() -> None:
    events = EventLog(ALONE)
    events.lines(ALONE)
    both = replace(ALONE, live=frozenset({"aa", "bb"}))
    assert events.lines(both) == ["peer live id=aa live=2", "peer live id=bb live=2"]
    assert events.lines(replace(both, live=frozenset({"bb"}))) == ["peer away id=aa live=1"]


def test_a_crawl_has_a_beginning_a_middle_and_an_end() -> None:
    events = EventLog(ALONE)
    events.lines(ALONE)
    said = []
    for second in range(0, 150, 2):
        state = "crawling" if second % 4 else "waiting"
        said += events.lines(replace(ALONE, at=float(second), crawl=state, fetched=second, documents=second))
    said += events.lines(replace(ALONE, at=152.0, fetched=150, failed=1, documents=150))
    assert [line.partition(" fetched")[0] for line in said] == ["crawl begins", *["crawl goes on"] * 2, "crawl idle"]
    assert said[-1] == "crawl idle fetched=150 failed=1 waiting=0"
    assert GOES_ON_EVERY_S == 60


def test_a_full_disk_is_said_once() -> None:
    events = EventLog(ALONE)
    events.lines(ALONE)
    full = replace(ALONE, crawl="paused", pause_reason="no room: 6.1 MB used")
    assert events.lines(full) == ["crawl stopped reason=no room: 6.1 MB used"]
    assert events.lines(replace(full, pause_reason="no room: 6.5 MB used")) == [], "an index beside the store grows on"
    assert events.lines(full) == []
    assert events.lines(ALONE) == ["crawl may go on: there is room again"]


def test_a_warning_is_said_when_it_comes_and_when_it_is_over_whatever_its_figures() -> None:
    events = EventLog(ALONE)
    events.lines(ALONE)
    said = [events.lines(replace(ALONE, warnings=told)) for told in (("40 s behind",), ("41 s behind",), (), ())]
    assert said == [["to look at: 40 s behind"], [], ["over: 41 s behind"], []]
