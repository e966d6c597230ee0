"""Introductions: asked for when nobody else answers, seldom, and never where the network does not allow it."""

from collections.abc import Iterable

import pytest
from aiohttp import web

from bootstrap import load_network, new_network
from dht import Address, Identity, Network, Now, Strategy
from node.joining.rejoin import ALONE_S, DAY_S, FIRST_PAUSE_S, LONGEST_PAUSE_S, LOOK_S, Rejoiner

FIRST = Strategy(network="", version=1, effective_at=0, next_at=1, expires_at=2)
PUBLIC, PRIVATE = Address("9.0.0.1", 8091), Address("192.168.0.1", 8091)


def network(name: str = "x", seeds: tuple[str, ...] = (), bootstrap: tuple[str, ...] = ()) -> Network:
    return load_network(new_network(name, [Identity(b"\1" * 32)], FIRST, bootstrap=bootstrap, seeds=seeds))


class Alone:
    """An overlay that knows nobody, or somebody, and what it was told to join."""

    def __init__(self, company: int = 0) -> None:
        self.company, self.joined = company, list[Address]()

    @property
    def view(self) -> "Alone":
        return self

    def live(self) -> range:
        return range(1 + self.company)

    def allows(self, host: str) -> bool:
        return not host.startswith("192.168.")

    def join(self, addresses: Iterable[Address]) -> None:
        self.joined.extend(addresses)


class Story:
    """An introducer on a clock of its own; notes when names were looked up."""

    def __init__(self, overlay: Alone, network: Network, url: str = "") -> None:
        self.now, self.looked = 0.0, list[float]()
        self.rejoiner = Rejoiner(overlay, network, url, lambda: Now(self.now, self.now), self.look_up)  # type: ignore[arg-type]

    async def look_up(self, seed: str) -> tuple[Address, ...]:
        self.looked.append(self.now)
        return (PUBLIC, PRIVATE)

    async def until(self, end: float) -> None:
        while self.now < end:
            await self.rejoiner.step()
            self.now += LOOK_S


async def test_names_are_asked_at_the_start_and_ever_more_seldom_while_alone() -> None:
    overlay = Alone()
    story = Story(overlay, network(seeds=("a.test:8091",)))
    await story.until(4 * 3600.0)
    assert story.looked[:3] == [0.0, FIRST_PAUSE_S, 3 * FIRST_PAUSE_S]
    assert story.looked[-1] - story.looked[-2] == LONGEST_PAUSE_S
    assert set(overlay.joined) == {PUBLIC}  # a name may mean anything; what the network allows is joined


async def test_with_company_no_name_is_asked_until_it_is_gone_for_a_while() -> None:
    overlay = Alone(company=2)
    story = Story(overlay, network(seeds=("a.test:8091",)))
    await story.until(1000.0)
    overlay.company = 0
    await story.until(1100.0)
    assert story.looked[0] == 1000.0 + ALONE_S - LOOK_S


@pytest.mark.parametrize(("served", "joins"), [("x", True), ("another", False)])
async def test_the_seed_url_is_read_daily_and_after_isolation_and_must_hold_this_network(
    served: str, joins: bool
) -> None:
    asked = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        name = [Identity(b"\1" * 32)]
        return web.Response(text=new_network(served, name, FIRST, bootstrap=["9.0.0.1:8091", "192.168.0.1:8091"]))

    app = web.Application()
    app.router.add_get("/dse.toml", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        overlay = Alone(company=1)
        story = Story(overlay, network(), f"http://127.0.0.1:{runner.addresses[0][1]}/dse.toml")
        story.now = DAY_S - 4 * LOOK_S
        await story.until(DAY_S)
        assert asked == 0
        await story.until(DAY_S + 100.0)
        assert asked == 1
        overlay.company = 0
        await story.until(DAY_S + 160.0)
        assert asked == 3
        assert set(overlay.joined) == ({PUBLIC} if joins else set())
    finally:
        await runner.cleanup()


async def test_a_url_that_nobody_serves_does_no_harm() -> None:
    overlay = Alone()
    await Story(overlay, network(), "http://127.0.0.1:9/dse.toml").until(200.0)
    assert not overlay.joined
