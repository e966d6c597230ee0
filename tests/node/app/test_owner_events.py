"""An owner hears once that something begins and once that it is over, whatever wavers and whenever a node restarts."""

from collections.abc import Iterable

from dht import Now
from node.app.owner_events import CALM_S, LASTS_S, REMEMBERED_S, OwnerEvents
from node.app.owner_needs import NeedState, OwnerNeed

WALL = 1_800_000_000.0


def play(events: OwnerEvents, topic: str, states: Iterable[tuple[float, NeedState]], wall: float = WALL) -> list[str]:
    """Show a topic's states, each at a steady second, and list what the owner hears, with the second."""
    told = []
    for at, state in states:
        need = OwnerNeed(topic, state, "" if state == "fine" else f"{topic} at {at:.0f}")
        told += [f"{at:.0f} {event.state}" for event in events.step([need], Now(wall + at, at))]
    return told


def every_second(state: NeedState, start: int, end: int) -> list[tuple[float, NeedState]]:
    return [(float(at), state) for at in range(start, end)]


def test_a_trouble_is_told_once_and_so_is_its_end() -> None:
    events = OwnerEvents()
    course = [*every_second("fine", 0, 10), *every_second("trouble", 10, 1000), *every_second("fine", 1000, 2000)]
    assert play(events, "disk", course) == [f"{10 + LASTS_S['disk']:.0f} begins", f"{1000 + CALM_S:.0f} over"]


def test_what_lasts_a_moment_or_wavers_at_its_bound_is_told_no_more_than_once() -> None:
    blips = [(float(at), "trouble" if at % 20 < 10 else "fine") for at in range(3000)]
    assert play(OwnerEvents(), "clock", blips) == []
    wavers = [(float(at), ("trouble", "near", "trouble")[at // 100 % 3]) for at in range(3000)]
    assert play(OwnerEvents(), "disk", wavers) == ["30 begins"]
    short_calm = [(float(at), "fine" if at % (CALM_S + 100) > 101 else "trouble") for at in range(3000)]
    assert play(OwnerEvents(), "disk", short_calm) == ["30 begins"]


def test_the_end_says_what_was_over_and_since_when_it_was_there() -> None:
    events = OwnerEvents()
    (begins,) = events.step([OwnerNeed("audit", "trouble", "2 peers find records missing")], Now(WALL, 5.0))
    events.step([OwnerNeed("audit", "fine")], Now(WALL + 60, 65.0))
    (over,) = events.step([OwnerNeed("audit", "fine")], Now(WALL + 60 + CALM_S, 65.0 + CALM_S))
    assert (begins.text, begins.since) == (over.text, over.since) == ("2 peers find records missing", WALL)
    assert over.at == WALL + 60 + CALM_S


def test_a_restart_within_an_hour_repeats_nothing_and_still_tells_the_end() -> None:
    before = OwnerEvents()
    assert play(before, "audit", [(0.0, "trouble")]) == ["0 begins"]
    note, back = before.note(WALL), WALL + REMEMBERED_S
    after = OwnerEvents(note, back)
    assert play(after, "audit", every_second("trouble", 0, 100), back) == []
    assert play(after, "audit", every_second("fine", 100, 1000), back) == [f"{100 + CALM_S:.0f} over"]


def test_a_restart_after_more_than_an_hour_tells_it_anew() -> None:
    before = OwnerEvents()
    play(before, "audit", [(0.0, "trouble")])
    after = OwnerEvents(before.note(WALL), WALL + REMEMBERED_S + 1)
    assert play(after, "audit", [(0.0, "trouble")]) == ["0 begins"]


def test_a_damaged_note_or_one_with_topics_of_another_version_counts_as_none() -> None:
    for note in (b"", b"{", b"[]", b'{"seen_at":"x","told":{}}', b"\xff" * 100):
        assert not OwnerEvents(note, WALL).told
    strange = b'{"seen_at":%d,"told":{"moon":{"since":1.0,"text":"full"}}}' % WALL
    assert not OwnerEvents(strange, WALL).told
