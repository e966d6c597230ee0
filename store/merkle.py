"""Merkle trees over a package, so that one signature serves many records and each proves its own place.

Pure: bytes in, bytes out. SHA-256; leaves and nodes are hashed with different first bytes (RFC 6962, section 2.1) so
that a node is never mistaken for a leaf. A level of odd length is completed with 32 zero bytes, so a path's length
is ceil(log2(leaves)) and the bits of the index say on which side each sibling stands.
"""

from collections.abc import Sequence
from hashlib import sha256

EMPTY = bytes(32)


def leaf(data: bytes) -> bytes:
    """The hash of one leaf."""
    return sha256(b"\0" + data).digest()


def tree(leaves: Sequence[bytes]) -> tuple[bytes, list[tuple[bytes, ...]]]:
    """The root over one or more leaf hashes, and for each leaf its siblings from the bottom up."""
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
    """The root that a leaf at `index` proves by its path; None where the index does not fit the path."""
    if index >> len(path):
        return None
    for sibling in path:
        leaf_hash = node(sibling, leaf_hash) if index & 1 else node(leaf_hash, sibling)
        index >>= 1
    return leaf_hash


def node(left: bytes, right: bytes) -> bytes:
    """The hash of a node above two others."""
    return sha256(b"\1" + left + right).digest()
