"""An owner hears once that something begins and once that it is over, whatever wavers and whenever a node restarts."""

from collections.abc import Iterable

from dht import Now
from node.owner.events import CALM_S, LASTS_S, REMEMBERED_S, OwnerEvents
from node.owner.needs import NeedState, OwnerNeed

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


def test_the_end_says_what_became_of_it_by_the_last_look_over_a_restart_too() -> None:
    events = OwnerEvents()
    for at, after in ((0.0, "none"), (60.0, "4 of 4 slots crawled"), (75.0, "")):
        events.step([OwnerNeed("member", "trouble", "a is silent", ("a",), after)], Now(WALL + at, at))
    again = OwnerEvents(events.note(WALL + 90), WALL + 90)
    assert not again.step([OwnerNeed("member", "fine")], Now(WALL + 90, 90.0))
    (over,) = again.step([OwnerNeed("member", "fine")], Now(WALL + 500, 90.0 + CALM_S))
    assert (over.state, over.text, over.since) == ("over", "4 of 4 slots crawled", WALL)


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


def heard(events: OwnerEvents, looks: Iterable[tuple[float, NeedState, str]]) -> list[str]:
    """Show what a need is about, a letter a thing, at steady seconds; list what the owner hears, with the second."""
    told = []
    for at, state, about in looks:
        need = OwnerNeed("member", state, f"{about} silent" if about else "", tuple(about))
        told += [f"{at:.0f} {event.state} {event.text}" for event in events.step([need], Now(WALL + at, at))]
    return told


def lasting(state: NeedState, about: str, start: int, end: int) -> list[tuple[float, NeedState, str]]:
    return [(float(at), state, about) for at in range(start, end, 10)]


def test_one_thing_more_is_news_and_one_that_comes_back_at_once_is_none() -> None:
    course = [*lasting("trouble", "a", 0, 100), *lasting("trouble", "ab", 100, 200), *lasting("trouble", "b", 200, 300)]
    course += lasting("trouble", "ab", 300, 1000)
    assert heard(OwnerEvents(), course) == ["0 begins a silent", "100 begins ab silent"]
    calm = int(CALM_S)
    again = [*lasting("trouble", "ab", 0, 100), *lasting("trouble", "b", 100, 200 + calm)]
    again += lasting("trouble", "ba", 200 + calm, 300 + calm)
    assert heard(OwnerEvents(), again) == ["0 begins ab silent", f"{200 + calm} begins ba silent"]


def test_it_is_over_once_nothing_of_it_is_in_trouble_though_something_else_is_near() -> None:
    course = [*lasting("trouble", "a", 0, 100), *lasting("near", "", 100, 1000)]
    assert heard(OwnerEvents(), course) == ["0 begins a silent", f"{90 + CALM_S:.0f} over a silent"]
    events = OwnerEvents()
    assert heard(events, lasting("trouble", "a", 0, 100)) == ["0 begins a silent"]
    after = OwnerEvents(events.note(WALL + 100), WALL + 100)
    assert heard(after, lasting("trouble", "ab", 0, 100)) == ["0 begins ab silent"], "and a restart repeats no other"
