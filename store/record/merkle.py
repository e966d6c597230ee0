"""Merkle trees over a package, so that one signature serves many records and each proves its own place.

Pure: bytes in, bytes out. SHA-256; leaves and nodes are hashed with different first bytes (RFC 6962, section 2.1) so
that a node is never mistaken for a leaf. A level of odd length is completed with 32 zero bytes. So a path has
ceil(log2(leaves)) hashes, and the bits of the index tell on which side each sibling stands.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

EMPTY = bytes(32)


def leaf(data: bytes) -> bytes:
    """Hash one leaf."""
    return sha256(b"\0" + data).digest()


def tree(leaves: Sequence[bytes]) -> tuple[bytes, list[tuple[bytes, ...]]]:
    """Return the root over one or more leaf hashes, and for each leaf its siblings from the bottom up."""
    paths: list[list[bytes]] = [[] for _ in leaves]
    level, width = list(leaves), 1
    while len(level) > 1:
        if len(level) % 2:
            level.append(EMPTY)
        for index, path in enumerate(paths):
            path.append(level[index // width ^ 1])
        level = [node(level[i], level[i + 1]) for i in range(0, len(level), 2)]
        width *= 2
    return level[0], [tuple(path) for path in paths]


def root_of(leaf_hash: bytes, index: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that a leaf at `index` proves by its path; None where the index does not fit the path."""
    if index >> len(path):
        return None
    for sibling in path:
        leaf_hash = node(sibling, leaf_hash) if index & 1 else node(leaf_hash, sibling)
        index >>= 1
    return leaf_hash


class Proven:
    """Remembers the nodes of one tree that were proved to be under its signature.

    So what a package's records have in common is hashed once. A node is remembered with its path to the root: who
    shows another one is refused.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[bytes, tuple[bytes, ...]]] = {}  # by number: the root is 1, n has 2n and 2n + 1

    def proves(self, leaf_hash: bytes, index: int, path: tuple[bytes, ...], is_signed: Callable[[bytes], bool]) -> bool:
        """Tell whether a leaf has this place under the signature; `is_signed` is asked about an unknown root."""
        here, number = leaf_hash, 1 << len(path) | index
        way: list[tuple[int, bytes]] = []
        for level, sibling in enumerate(path):
            if (known := self._known.get(number)) is not None:
                if known != (here, path[level:]):
                    return False
                break
            way.append((number, here))
            here = node(sibling, here) if number & 1 else node(here, sibling)
            number >>= 1
        else:
            if (known := self._known.get(1)) is None and is_signed(here):
                known = self._known[1] = (here, ())
            if known != (here, ()):
                return False
        for level, (number, here) in enumerate(way):
            self._known[number] = here, path[level:]
            self._known[number ^ 1] = path[level], (here, *path[level + 1 :])
        return True


def node(left: bytes, right: bytes) -> bytes:
    """Hash two nodes to the one above them."""
    return sha256(b"\1" + left + right).digest()
