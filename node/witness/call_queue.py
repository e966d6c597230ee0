"""What other witnesses want looked at: which of their calls comes next, and who is heard no more for a while.

Pure: `now` is steady time in seconds. A call is known before it is due, so that whoever got one looks at other pages of
the accused meanwhile. Who called in vain comes after all others, and so does who was found to write what no site says,
or is accused by others: else a liar that calls first has all spend what they may on pages that are as they were
written. A call puts its author and its caller in doubt, but for whom this node has seen by itself.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Set
from dataclasses import dataclass

from dht import DocumentId, NodeId, node_id_of, site_of
from node.witness.statement import Statement
from store import Record, url_of

MAX_CALLS = 16  # waiting to be answered
MAX_CALLS_EACH = 4  # of one peer
MAX_IDLE_CALLS = 2  # of one peer, about pages that are not unlike, or not to be had: then it calls in vain
IDLE_S = 3600.0  # for so long since the last of them
TRUE_S = 900.0  # one page that is as its author says answers for so long what calls say of it
MAX_HANDED = 16  # pages that owners handed on
MAX_HANDED_EACH = 4  # of one peer
ACCUSERS = 2  # that call for pages of one who calls itself

Tell = Callable[[Record, Statement], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Call:
    """A version to look at for others, from `due_at` on; nobody waits after `until` (steady seconds). `answer` is told
    where the page is unlike."""

    record: Record
    caller: NodeId
    answer: Tell
    due_at: float
    until: float


def author_of(call: Call) -> NodeId:
    """Return who wrote the version that a call is about."""
    return node_id_of(call.record.proof.author)


class CallQueue:
    """The calls that wait at one node."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._handed: dict[DocumentId, tuple[NodeId, Record]] = {}
        self._idle: dict[NodeId, tuple[int, float]] = {}  # calls of members that came to nothing, and when the last
        self._true_at: dict[NodeId, float] = {}  # when a page of theirs was seen to be as they say

    def add(self, call: Call, now: float) -> None:
        """Take a call in, where its caller has room."""
        of_caller = sum(each.caller == call.caller for each in self._calls)
        if len(self._calls) < MAX_CALLS and of_caller < MAX_CALLS_EACH and not self._is_idle(call.caller, now):
            self._calls.append(call)

    def next(self, now: float, doubted: Set[NodeId] = frozenset()) -> Call | None:
        """Return the call to answer now, None where there is none; those about older versions first, so that several
        nodes bring the same hearings to an end. Who is one of `doubted`, or is accused by ACCUSERS, waits as long as
        anybody else does. `take_up` must follow, or it is returned again."""
        if not self._calls:
            return None
        self._calls = [call for call in self._calls if now <= call.until and not self._is_idle(call.caller, now)]
        accused = Counter(author for author, _ in {(author_of(call), call.caller) for call in self._calls})
        fair = [c for c in self._calls if c.caller not in doubted and accused[c.caller] < ACCUSERS]
        due = (call for call in fair or self._calls if call.due_at <= now)
        return min(due, key=lambda c: (self._vain(c.caller, now), c.record.version.at_ms), default=None)

    def hand(self, record: Record, by: NodeId) -> None:
        """Take in a page that an owner drew and cannot look at, where the owner has room; it is no call, but looked at
        like one that this node drew."""
        of_owner = sum(each == by for each, _ in self._handed.values())
        if len(self._handed) < MAX_HANDED and of_owner < MAX_HANDED_EACH:
            self._handed[record.id] = by, record

    def handed(self) -> list[Record]:
        """Return the pages that were handed on and not looked at yet."""
        return [record for _, record in self._handed.values()]

    def take_handed(self, id: DocumentId) -> None:
        """Note that a page is looked at, or no longer worth it."""
        self._handed.pop(id, None)

    def take_up(self, call: Call) -> None:
        """Note that a call is answered now."""
        self._calls.remove(call)

    def note_idle(self, caller: NodeId, now: float) -> None:
        """Note that a page called for says what its author says, or nothing: so others could have us spend all that we
        may."""
        self._idle = {peer: known for peer, known in self._idle.items() if now <= known[1] + IDLE_S}
        self._idle[caller] = self._vain(caller, now) + 1, now

    def note_true(self, author: NodeId, now: float) -> None:
        """Note that a page of an author's is as it says."""
        self._true_at = {each: at for each, at in self._true_at.items() if now <= at + TRUE_S}
        self._true_at[author] = now

    def doubted(self, now: float, known: Set[NodeId] = frozenset()) -> Iterator[tuple[NodeId, str]]:
        """Yield authors and sites of the pages called for, and who called (at no site): one of both is wrong. Where one
        is `known` to write what no site says, that is not the other; nor is it whose page was seen to be true. Nothing
        is yielded of whoever called in vain before."""
        for call in self._calls:
            author, caller = author_of(call), call.caller
            if self._vain(caller, now):
                continue
            if caller not in known and (author in known or not self._is_true(author, now)):
                yield author, site_of(url_of(call.record))
            if author not in known and (caller in known or not self._is_true(caller, now)):
                yield caller, ""

    def _is_true(self, author: NodeId, now: float) -> bool:
        return now - self._true_at.get(author, float("-inf")) <= TRUE_S

    def _vain(self, caller: NodeId, now: float) -> int:
        count, last_at = self._idle.get(caller, (0, 0.0))
        return count if now <= last_at + IDLE_S else 0

    def _is_idle(self, caller: NodeId, now: float) -> bool:
        return self._vain(caller, now) >= MAX_IDLE_CALLS
