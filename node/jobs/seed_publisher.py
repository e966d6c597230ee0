"""Publishes URLs that people hand in: a member writes them to their owners itself, a client has a member do it.

A member takes URLs from strangers only as seeds: where the rules allow them, no deeper than the rules and people go,
and few at a time. All strangers share one rate, of which nobody gets more than half. A job that repeats has known seeds
fetched again, each by the holder of its slot.
"""

from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Annotated

from msgspec import Meta

from crawl import MAX_SCOPE_CHARS, Decide, Visit, allowed_depth, is_canonical, reach, visit_flaw
from dht import BadMessage, Clock, Message, NodeId, Overlay, PeerTimeout, RateLimiter, RemoteError
from node.api.crawl import Followed
from node.errors import NotJoined
from node.jobs.cancellation import Cancellation
from store import TooFewCopies

MAX_SEEDS = 256  # in one message
MAX_DEPTH = 1000  # that a message can say
HANDED_DEPTH = 100  # that is taken: as deep as the API lets people go
SEEDS_S, SEEDS_BURST = 10.0, 1024.0  # taken from all strangers together, a second and at once
OWN_S, OWN_BURST = 5.0, 512.0  # the same of one
MEMBERS_TRIED = 3
HAND_WITHIN_S = 30.0  # a write to the owners there, and the way
RESTED_S = 43_200.0  # since a known seed was visited, before a job or a stranger has it fetched again

Url = Annotated[str, Meta(max_length=2048)]
Scope = Annotated[str, Meta(max_length=MAX_SCOPE_CHARS)]


class HandSeeds(Message, frozen=True, array_like=True):
    """Asks a member to write these (URL, depth) to their owners. `ways`: none, or one for each. `again`: they are known
    already, and those of the slots that the member holds are to be fetched again."""

    seeds: Annotated[tuple[tuple[Url, Annotated[int, Meta(ge=0, le=MAX_DEPTH)]], ...], Meta(max_length=MAX_SEEDS)]
    ways: Annotated[tuple[tuple[Scope, bool], ...], Meta(max_length=MAX_SEEDS)] = ()  # scope, and is it a sitemap?
    again: bool = False


class SeedsTaken(Message, frozen=True, array_like=True):
    """Answers that all of them are taken. `is_safe`: with enough of their owners, else with too few, until more
    answer."""

    is_safe: bool = True


class SeedPublisher:
    """Publishes seeds for this node and for clients. `submit` writes URLs of people to their owners."""

    def __init__(
        self,
        submit: Callable[[Sequence[Visit]], Awaitable[None]],
        outcomes: Cancellation,
        overlay: Overlay,
        decide: Decide,
        clock: Clock,
        rng: Random,
    ) -> None:
        self._outcomes = outcomes
        self._submit, self._overlay, self._decide, self._clock, self._rng = submit, overlay, decide, clock, rng
        self._strangers, self._each = RateLimiter(SEEDS_S, SEEDS_BURST, keys=1), RateLimiter(OWN_S, OWN_BURST)
        overlay.serve(HandSeeds, self._take)

    async def publish(self, seeds: Sequence[Visit]) -> bool:
        """Hand seeds to their owners. Return True when all are safe, False where some are kept by too few owners until
        more answer. Raises RemoteError where nobody takes them, NotJoined where this node is apart from its network."""
        view = self._overlay.view
        if reason := view.why_apart():
            raise NotJoined(reason)
        if view.node_id in view.members():
            return await self._write(seeds)
        is_safe = True
        for first in range(0, len(seeds), MAX_SEEDS):
            part = seeds[first : first + MAX_SEEDS]
            named = tuple((visit.url, min(visit.depth, HANDED_DEPTH)) for visit in part)
            is_safe &= await self._hand(HandSeeds(named, tuple((visit.scope, visit.is_sitemap) for visit in part)))
        return is_safe

    async def fetch_again(self, asked: Sequence[Followed]) -> int:
        """Have known seeds fetched again now by the holders of their slots, unless their last visit is younger than
        RESTED_S; return how many lie here. Raises RemoteError where a seed has no holder, or its holder does not take
        it; the other seeds are taken all the same."""
        count, failure = await self._outcomes.make_due(asked, RESTED_S), None
        for holder, seeds in self._outcomes.held_elsewhere(asked).items():
            named = tuple((each.url, min(each.depth, HANDED_DEPTH)) for each in seeds[:MAX_SEEDS])
            message = HandSeeds(named, tuple((each.scope, False) for each in seeds[:MAX_SEEDS]), again=True)
            try:
                if holder is None:
                    raise PeerTimeout("any holder of a seed's slot", 0.0)
                await self._overlay.ask(holder, message, SeedsTaken, timeout_s=HAND_WITHIN_S)
            except RemoteError as error:
                failure = error
        if failure:
            raise failure
        return count

    async def _write(self, seeds: Sequence[Visit]) -> bool:
        """Write seeds to their owners; tell whether all are safe. Raises TooFewCopies where nobody keeps one."""
        try:
            await self._submit(seeds)
        except TooFewCopies as short:
            if not short.copies:
                raise
            return False
        return True

    async def _hand(self, message: HandSeeds) -> bool:
        view = self._overlay.view
        live = [peer for peer in view.members() if view.is_live(peer)]
        failure: RemoteError = PeerTimeout("any member", 0.0)
        for peer in self._rng.sample(live, min(len(live), MEMBERS_TRIED)):
            try:
                return (await self._overlay.ask(peer, message, SeedsTaken, timeout_s=HAND_WITHIN_S)).is_safe
            except RemoteError as error:
                failure = error
        raise failure

    async def _take(self, peer: NodeId, message: HandSeeds) -> SeedsTaken:
        view = self._overlay.view
        if view.why_apart() or view.node_id not in view.members():
            raise BadMessage(peer.hex(), "this node is a client too, or apart from its network")
        if message.ways and len(message.ways) != len(message.seeds):
            raise BadMessage(peer.hex(), "hands in seeds and scopes that are not as many")
        ways = message.ways or (("", False),) * len(message.seeds)
        found = [self._seed(peer, *seed, *way) for seed, way in zip(message.seeds, ways, strict=True)]
        now, count = self._clock().steady, float(len(found))
        if not (self._each.take(peer, now, count) and self._strangers.take("", now, count)):
            raise BadMessage(peer.hex(), "too many seeds of strangers at once; hand them in again later")
        if message.again:
            asked = [Followed(seed.url, seed.depth, seed.scope) for seed in found]
            await self._outcomes.make_due(asked, RESTED_S)
            if self._outcomes.held_elsewhere(asked):
                raise BadMessage(peer.hex(), "asks for seeds of a slot that this node does not hold")
            return SeedsTaken()
        return SeedsTaken(await self._write(found))

    def _seed(self, peer: NodeId, url: str, depth: int, scope: str, is_sitemap: bool) -> Visit:
        """Return what a stranger's seed becomes; raises BadMessage where it is not taken."""
        if not is_canonical(url):
            raise BadMessage(peer.hex(), "submits a URL that is not canonical")
        if not (decision := self._decide(url)).allowed:
            raise BadMessage(peer.hex(), f"hands in what is not crawled here: {decision.reason}")
        if depth > HANDED_DEPTH:
            raise BadMessage(peer.hex(), f"hands in what shall be followed {depth} links; {HANDED_DEPTH} are allowed")
        seed = Visit(url, allowed_depth(depth, decision), scope=scope, is_sitemap=is_sitemap)
        if flaw := visit_flaw(seed, 0, reach(seed)):
            raise BadMessage(peer.hex(), f"hands in what no seed is: {flaw}")
        return seed
