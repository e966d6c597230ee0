"""A node's owner hears of a need once, over a restart too, and of a disk that takes not even the note."""

import logging
from pathlib import Path

import pytest

from dht import Condition, Now
from node.owner.condition import Outlook, condition_of, needs_in, state_of
from node.owner.events import CALM_S, OwnerEvent
from node.owner.needs import OwnerNeed
from node.owner.watch import NOTE_EVERY_S, OwnerWatch


class Owner:
    """Has the needs of a node and a clock in hand, and remembers what it was told."""

    def __init__(self, note: Path) -> None:
        self.note, self.at, self.needs = note, 1000.0, (OwnerNeed("audit", "trouble", "records are missing"),)
        self.told: list[str] = []
        self.said: list[Condition] = []  # to other members
        self.refusal: OSError | None = None

    def watch(self) -> OwnerWatch:
        clock = lambda: Now(1_800_000_000.0 + self.at, self.at)  # noqa: E731
        return OwnerWatch(self._look_at, self.said.append, self._tell, self.note, clock)

    async def _look_at(self) -> Outlook:
        if self.refusal:
            raise self.refusal
        return Outlook(self.needs, condition_of("crawling", self.needs, 40 << 30))

    async def _tell(self, event: OwnerEvent) -> None:
        self.told.append(f"{event.topic} {event.state}")


async def test_an_owner_is_told_once_although_the_node_starts_again_and_hears_the_end(tmp_path: Path) -> None:
    owner = Owner(tmp_path / "owner-told")
    await owner.watch().step()
    owner.at += 3000.0
    again = owner.watch()
    await again.step()
    assert owner.told == ["audit begins"]
    owner.needs = (OwnerNeed("audit", "fine"),)
    await again.step()
    owner.at += CALM_S
    await again.step()
    assert owner.told == ["audit begins", "audit over"]
    assert b'"told":{}' in owner.note.read_bytes()


async def test_a_trouble_of_days_is_not_told_again_by_the_restart_that_ends_them(tmp_path: Path) -> None:
    owner = Owner(tmp_path / "owner-told")
    watch = owner.watch()
    while owner.at < 200_000:
        await watch.step()
        owner.at += NOTE_EVERY_S
    owner.at += 2000.0
    await owner.watch().step()
    assert owner.told == ["audit begins"]


async def test_what_cannot_be_noted_is_told_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    owner = Owner(tmp_path / "gone" / "owner-told")
    with caplog.at_level(logging.INFO):
        await owner.watch().step()
    assert owner.told == ["audit begins"]
    assert "needs its owner topic=audit: records are missing" in caplog.text and "is not noted reason=" in caplog.text


async def test_a_machine_that_refuses_even_the_look_is_told_and_ends_nothing(tmp_path: Path) -> None:
    owner = Owner(tmp_path / "owner-told")
    owner.refusal = PermissionError(13, "Permission denied")
    watch = owner.watch()
    await watch.step()
    owner.at += 60.0
    await watch.step()
    assert owner.told == ["machine begins"]
    assert (state_of(owner.said[-1]), needs_in(owner.said[-1])) == ("trouble", ("machine",))
    owner.refusal = None
    await watch.step()
    assert owner.told == ["machine begins", "audit begins"]
    assert (state_of(owner.said[-1]), needs_in(owner.said[-1])) == ("crawling", ("audit",))
