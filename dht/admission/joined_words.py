"""The joined words are all that a newcomer has heard of who names whom, judged once it has joined.

Pure: names in, peers out. While it joined it took one name for enough, so one liar could show it any number of peers
that nobody reached and that name each other. Now as many ways must lead to each peer as it needs names, or as lead to
this node itself where those are fewer (its first contacts may name few). Of several members among the roots none is
believed alone; the only one has to be, and bare bootstrap nodes where there is none: they name few. This node's own
words count, as those of one.
"""

from collections.abc import Callable, Collection

from dht.admission.word_paths import WordPaths
from dht.keys import NodeId


class JoinedWords:
    """Judges the peers that one node, `own`, takes for vouched for. `attesters`: who of them names a peer."""

    def __init__(
        self,
        attesters: Callable[[NodeId], Collection[NodeId]],
        vouched: Collection[NodeId],
        roots: Collection[NodeId],
        own: NodeId,
    ) -> None:
        self._own, self._roots = own, {peer for peer in roots if peer in vouched and peer != own}
        self._named_by = {peer: attesters(peer) for peer in sorted({*vouched, own})}
        self._others = sorted({*vouched} - self._roots - {own})

    def unreached(self, wanted: Callable[[NodeId], int], is_member: Callable[[NodeId], bool]) -> list[NodeId]:
        """Return to whom fewer ways lead than it wants, and than lead to this node."""
        members = {peer for peer in self._roots if is_member(peer)}
        believed = members if len(members) == 1 else set() if members else self._roots
        roots = {peer: peer in believed for peer in self._roots}
        wants = {peer: wanted(peer) for peer in self._others}
        reach = WordPaths(self._named_by, roots).count(self._own, max(wants.values(), default=0))
        paths = WordPaths(self._named_by, roots, self._own)
        return paths.unreached({peer: min(reach, ways) for peer, ways in wants.items()})
