"""A recorded history of acknowledgements, answers and cuts, and what must hold of it, judged from outside.

A: at rest, two exact answers are equal, byte for byte. B: an exact answer holds every match that was acknowledged a
minute earlier on its side of any cut, or a newer version of it. C: across a cut at most one side gives exact answers.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from dht import RemoteError, Slot, document_id, slot_of
from index import SearchRequest
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import DAY_S, World
from store import Document, Draft, Kind, encode_document

KNOWN_AFTER_S = 60.0  # B: a write that was acknowledged so long ago is in every exact answer
CUT_KNOWN_AFTER_S = 60.0  # C: comparisons count for 30 s, and who is silent is taken for dead after 30 s
WORDS = tuple(f"topic{n}" for n in range(10))
MOST_OF_A_WORD = 90  # one page of results shows them all, each of a host of its own


Rank = tuple[int, int]  # of several versions of a page the highest is shown: lease epoch, at_ms


@dataclass(frozen=True, slots=True)
class Write:
    """One version of a document, from its beginning to its acknowledgement; `gone`: it takes the document away."""

    url: str
    word: str
    number: int  # of the version of this URL
    rank: Rank
    began: float
    acknowledged: float
    group: int
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """One answer; `versions`: by URL."""

    node: str
    group: int
    word: str
    began: float
    at: float
    exact: bool
    whole: bool
    answered: int  # slots
    why: tuple[str, ...]
    versions: dict[str, int]
    body: str  # all that must be equal at rest


@dataclass(slots=True)
class History:
    """Writes by the holders of slots, and reads, on behalf of users of a world, and notes what came of it."""

    world: World
    rng: Random
    writes: list[Write] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    cuts: list[tuple[float, float]] = field(default_factory=list)  # (began, healed)
    failed: int = 0
    held_by_nobody: int = 0
    _groups: dict[str, int] = field(default_factory=dict)
    _newest: dict[str, int] = field(default_factory=dict)
    _begun: dict[str, dict[int, Rank]] = field(default_factory=dict)  # all versions, by URL
    _open: set[str] = field(default_factory=set)

    def now(self) -> float:
        return self.world.loop.time()

    def cut(self, *groups: Sequence[SimNode]) -> None:
        """Part the world."""
        self.world.cut(*groups)
        self._groups = {node.name: number for number, group in enumerate(groups) for node in group}
        self.cuts.append((self.now(), float("inf")))

    def heal(self) -> None:
        """Make it one again."""
        self.world.heal()
        self._groups = {}
        self.cuts[-1] = self.cuts[-1][0], self.now()

    async def use(self, seconds: float, write_every_s: float = 1.0, read_every_s: float = 1.0) -> None:
        """Write and read for a while, each user waiting for nobody."""
        async with asyncio.TaskGroup() as users:
            ends = self.now() + seconds
            while (now := self.now()) < ends:
                if now % write_every_s < 0.5:
                    users.create_task(self._write())
                if now % read_every_s < 0.5:
                    users.create_task(self.read(self.somebody(), self.rng.choice(WORDS)))
                await asyncio.sleep(0.5)

    async def read(self, node: SimNode, word: str) -> Read | None:
        """Ask a node; None where it died meanwhile."""
        began, group = self.now(), self._group(node)
        run = node.node_core
        answer = await run.index.searcher.search(SearchRequest(word, limit=100, deadline_ms=3000))
        if node.task is None or node.node_core is not run or group != self._group(node):
            return None
        found = Read(
            node.name, group, word, began, self.now(), answer["exact"], answer["whole"],
            answer["coverage"]["answered"], _reasons(answer),
            {result["url"]: round(result["fetched_at"]) for result in answer["results"]}, _body(answer),
        )  # fmt: skip
        self.reads.append(found)
        return found

    async def _write(self) -> None:
        node, rng = self.somebody(), self.rng
        known = sorted(self._newest.keys() - self._open)
        if known and rng.random() < 0.3:
            url = rng.choice(known)
        else:
            word = rng.choice(WORDS)
            url = f"http://h{rng.randrange(40)}.n{len(self._newest)}.example/{word}/{len(self._newest)}"
            if Counter(u.split("/")[3] for u in self._newest)[word] >= MOST_OF_A_WORD:
                return
        await self._put(node, url, gone=rng.random() < 0.05)

    async def _put(self, node: SimNode, url: str, *, gone: bool) -> None:
        key, group = node.node_core.store.shards.key_of(url), self._group(node)
        slot = slot_of(key, node.overlay.view.strategy.slot_bits)
        if (holder := self._holder(slot, group)) is None:
            self.held_by_nobody += 1
            return
        node, core = holder, holder.node_core
        word, number, began, now = url.split("/")[3], self._newest.get(url, 0) + 1, self.now(), node.clock()
        epoch, at_ms = node.overlay.view.leases()[slot], int(now.wall * 1000)
        self._newest[url] = number
        self._begun.setdefault(url, {})[number] = epoch, at_ms
        self._open.add(url)
        text = f"{word} {url} version {number} " + " ".join(f"w{self.rng.randrange(50)}" for _ in range(20))
        document = Document(url, float(number), 404 if gone else 200, text="" if gone else text, gone=gone)
        draft = Draft(
            Kind.DOCUMENT, document_id(url), key, epoch, at_ms, int(now.wall // DAY_S) + 30,
            encode_document(document),
        )  # fmt: skip
        try:
            await core.store.replicator.write([draft])
        except RemoteError:
            self.failed += 1
            return
        finally:
            self._open.discard(url)
        if node.task is not None and node.node_core is core and group == self._group(node):
            self.writes.append(Write(url, word, number, (epoch, at_ms), began, self.now(), group, gone))

    def _holder(self, slot: Slot, group: int) -> SimNode | None:
        awake = [node for node in self.world.running() if node not in self.world._sleeping]
        return next((n for n in awake if self._group(n) == group and slot in n.overlay.view.leases()), None)

    def somebody(self) -> SimNode:
        return self.rng.choice([node for node in self.world.running() if node not in self.world._sleeping])

    def _group(self, node: SimNode) -> int:
        return self._groups.get(node.name, 0)

    # What must hold.

    def lacking(self) -> Iterator[str]:
        """B: say of each exact answer what it lacks."""
        for read in self.reads:
            due = [w for w in self.writes if w.word == read.word] if read.exact else []
            for write in due:
                is_due = self._known_at(write, read) <= read.began - KNOWN_AFTER_S
                if is_due and (flaw := self._flaw(write, read)):
                    yield f"{read.node} at {read.at:.1f}: {flaw}; acknowledged at {write.acknowledged:.1f}"

    def _known_at(self, write: Write, read: Read) -> float:
        """When a write that was acknowledged on one side of a cut is due on the reader's side."""
        at = write.acknowledged
        for began, healed in self.cuts:
            if began <= at < healed and write.group != read.group:
                at = healed
        return at

    def _flaw(self, write: Write, read: Read) -> str:
        ranks = self._begun[write.url]
        higher = {number for number, rank in ranks.items() if rank > write.rank and number != write.number}
        newer = [w for w in self.writes if w.url == write.url and w.number in higher]
        began_newer = bool(higher) and (not newer or min(w.began for w in newer) <= read.at)
        got = read.versions.get(write.url)
        if write.gone:
            return "" if got is None or got in higher else f"{write.url} is gone, and shown"
        if got is None:
            return "" if began_newer else f"{write.url} version {write.number} is missing"
        is_new = ranks[got] >= write.rank
        return "" if is_new else f"{write.url} version {got} {ranks[got]} is older than {write.number} {write.rank}"

    def doubly_exact(self) -> Iterator[str]:
        """C: say where both sides of a cut gave exact answers."""
        for began, healed in self.cuts:
            within = [r for r in self.reads if r.exact and began + CUT_KNOWN_AFTER_S <= r.began and r.at < healed]
            for group in {read.group for read in within}:
                others = [read for read in within if read.group != group]
                if others:
                    yield f"cut of {began:.0f} to {healed:.0f}: {others[0].node} and one of group {group}"

    def share_exact(self, since: float = 0.0, until: float = float("inf")) -> float:
        """Return the share of answers that were exact, begun within a time."""
        asked = [read for read in self.reads if since <= read.began < until]
        return sum(read.exact for read in asked) / max(len(asked), 1)

    def why(self, since: float = 0.0, until: float = float("inf")) -> Counter[str]:
        """Count the reasons of answers that were not exact."""
        return Counter(reason for read in self.reads if since <= read.began < until for reason in read.why)


async def unequal_at_rest(history: History) -> list[str]:
    """A: ask every node everything, and say which exact answers differ."""
    found = []
    for word in WORDS:
        reads = [await history.read(node, word) for node in history.world.running()]
        bodies = {read.body: read.node for read in reads if read is not None and read.exact}
        if len(bodies) > 1:
            found.append(f"{word}: {[body[:300] for body in bodies]}")
    return found


def _reasons(answer: dict[str, Any]) -> tuple[str, ...]:
    return tuple(each["reason"] for each in answer["why"])


def _body(answer: dict[str, Any]) -> str:
    shown = [{key: value for key, value in hit.items() if key != "replicas"} for hit in answer["results"]]
    return json.dumps([answer["total"], shown])
