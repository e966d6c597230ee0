"""Many small records in one frame of a segment: what follows is not written, what is shared is written once.

Pure: values and bytes. A URL's visit is mostly hashes. Its id, its digest and its place follow from the body. Most
nodes of its Merkle path follow from the other records of the same package in the frame. So a frame keeps the bodies,
the few numbers beside them, one signature a package, and the nodes of its tree that do not follow. It also keeps the
nodes BLOCK levels above the leaves. So to prove one record again takes the leaves of its own block, not of the whole
frame. Nodes are numbered as in a heap: the root is 1, the children of n are 2n and 2n + 1. A frame may also hold a part
of a package as it came (`PackedRecords`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import msgspec

from dht import DocumentId, Key, document_id, placement_key
from store.record.merkle import node, root_of
from store.record.package import decode_head, depth_of, leaf_of, split_records, url_in, url_of
from store.record.record import Kind, Proof, Record, Version, digest_of
from store.segments.frame import Frame, FrameType

MOST = 128  # records in one frame; `catalog` keeps a record's number among them in a byte
MAX_BODY_BYTES = 4096  # larger ones share little with others
BLOCK = 3  # 2**BLOCK leaves are hashed to prove a record; a node of 32 bytes is kept for so many
NOTHING = sha256(b"").digest()
NO_PROOF = Proof(b"", b"", 0, ())


class _Seal(msgspec.Struct, array_like=True):
    """One package's signature, and nodes of its tree: their numbers, and their hashes one after the other."""

    author: bytes
    signature: bytes
    depth: int
    numbers: list[int]
    hashes: bytes


class _GroupColumns(msgspec.Struct, array_like=True):
    """One entry a record in each list; `spreads`: the depth its site was spread to, `seals`: whose `indexes`-th."""

    kinds: bytes
    spreads: bytes
    epochs: list[int]
    at_ms: list[int]
    days: list[int]
    seals: list[int]
    indexes: list[int]
    bodies: list[bytes]
    sealed: list[_Seal]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_GroupColumns)


def fits(record: Record) -> bool:
    """Tell whether a record may lie in a group: it is small, has no content, and all else follows from its body."""
    if record.proof.key or record.content or record.content_digest != NOTHING or len(record.body) > MAX_BODY_BYTES:
        return False
    try:
        url = url_of(record)
        follows = document_id(url) == record.id and depth_of(url, record.key) >= 0
    except (ValueError, RecursionError):
        return False
    return follows and digest_of(record.body, NOTHING) == record.version.digest and _is_in_tree(record.proof)


def parts_of(records: Sequence[Record]) -> list[list[int]]:
    """Divide records, by their numbers, into those that share a frame; one alone has a frame of its own."""
    small = [n for n, record in enumerate(records) if fits(record)]
    parts = [small[n : n + MOST] for n in range(0, len(small), MOST)]
    shared = set(small)
    return parts + [[n] for n in range(len(records)) if n not in shared]


def encode_group(records: Sequence[Record]) -> bytes:
    """Encode up to MOST records that fit for one frame."""
    seals: dict[tuple[bytes, bytes, int, bytes], list[Record]] = {}
    numbers = []
    for r, root in zip(records, roots_of(records), strict=True):
        mine = (r.proof.author, r.proof.signature, len(r.proof.path), root)
        seals.setdefault(mine, []).append(r)
        numbers.append(mine)
    order = {mine: n for n, mine in enumerate(seals)}
    return _encoder.encode(
        _GroupColumns(
            bytes(r.kind for r in records),
            bytes(depth_of(url_of(r), r.key) for r in records),
            [r.version.epoch for r in records],
            [r.version.at_ms for r in records],
            [r.expires_day for r in records],
            [order[mine] for mine in numbers],
            [r.proof.index for r in records],
            [r.body for r in records],
            [_seal(mine[:3], members) for mine, members in seals.items()],
        )
    )


@dataclass(slots=True)
class RecordGroup:
    """The records of one frame, decoded one by one when they are asked for."""

    _data: _GroupColumns
    _nodes: dict[int, dict[int, bytes]] = field(default_factory=dict)  # by seal and number

    def __len__(self) -> int:
        return len(self._data.bodies)

    def records(self, *, proven: bool) -> list[Record]:
        """Decode all records of the frame."""
        return [self.record(n, proven=proven) for n in range(len(self))]

    def record(self, n: int, *, proven: bool = True) -> Record:
        """Decode the n-th record; its proof is empty where it is not asked for. Raises ValueError."""
        data, name = self._data, self._name(n)
        proof = self._proof(n) if proven else NO_PROOF
        return Record(*name, data.days[n], data.bodies[n], b"", NOTHING, proof)

    def body(self, n: int) -> bytes:
        """Return the body of the n-th record; raises ValueError where there is none."""
        try:
            return self._data.bodies[n]
        except IndexError:
            raise ValueError(f"a group of {len(self)} has no number {n}") from None

    def author(self, n: int) -> bytes:
        """Return the public key of the n-th record's author."""
        return self._data.sealed[self._data.seals[n]].author

    def _name(self, n: int) -> tuple[Kind, DocumentId, Key, Version]:
        data = self._data
        url = url_in(self.body(n))
        version = Version(data.epochs[n], data.at_ms[n], digest_of(data.bodies[n], NOTHING))
        return Kind(data.kinds[n]), document_id(url), placement_key(url, data.spreads[n]), version

    def _proof(self, n: int) -> Proof:
        which = self._data.seals[n]
        seal, index = self._data.sealed[which], self._data.indexes[n]
        number = 1 << seal.depth | index
        path = tuple(self._node(which, (number >> level) ^ 1) for level in range(seal.depth))
        return Proof(seal.author, seal.signature, index, path)

    def _node(self, which: int, number: int) -> bytes:
        """A node's hash: kept, or that of its record, or made of its children."""
        nodes = self._nodes.get(which)
        if nodes is None:
            nodes = self._nodes[which] = self._kept(which)
        if number not in nodes:
            if number >> self._data.sealed[which].depth:
                nodes[number] = self._leaf(which, number)
            else:
                nodes[number] = node(self._node(which, 2 * number), self._node(which, 2 * number + 1))
        return nodes[number]

    def _kept(self, which: int) -> dict[int, bytes]:
        seal = self._data.sealed[which]
        return {number: seal.hashes[32 * n : 32 * n + 32] for n, number in enumerate(seal.numbers)}

    def _leaf(self, which: int, number: int) -> bytes:
        data, index = self._data, number - (1 << self._data.sealed[which].depth)
        for n, (seal, place) in enumerate(zip(data.seals, data.indexes, strict=True)):
            if seal == which and place == index:
                return leaf_of(*self._name(n), data.days[n])
        raise ValueError(f"node {number} of a package is missing")


def decode_group(data: bytes) -> RecordGroup:
    """Undo `encode_group`; raises ValueError."""
    found = _decoder.decode(data)
    counts = {len(column) for column in (found.kinds, found.spreads, found.epochs, found.at_ms, found.days,
                                         found.seals, found.indexes, found.bodies)}  # fmt: skip
    if len(counts) != 1:
        raise ValueError("a group's columns are not equally long")
    return RecordGroup(found)


def _seal(mine: tuple[bytes, bytes, int], members: Iterable[Record]) -> _Seal:
    """Return the nodes of one package's tree that must be kept, so that its members can prove themselves."""
    author, signature, depth = mine
    told: dict[int, bytes] = {}  # nodes that the members' paths name
    blocks: dict[int, bytes] = {}
    leaves = set()
    height = min(BLOCK, depth)
    for r in members:
        number = 1 << depth | r.proof.index
        leaves.add(number)
        told |= {(number >> level) ^ 1: sibling for level, sibling in enumerate(r.proof.path)}
        if number >> height not in blocks:
            low = r.proof.index & ((1 << height) - 1)
            blocks[number >> height] = root_of(_leaf(r), low, r.proof.path[:height]) or b""
    kept = _missing(leaves, height, told)
    if len(blocks) > 1:
        kept |= blocks
    kept |= _missing(set(blocks), depth - height, told)
    return _Seal(author, signature, depth, list(kept), b"".join(kept.values()))


def _missing(known: set[int], levels: int, told: Mapping[int, bytes]) -> dict[int, bytes]:
    """The siblings that do not follow from known nodes of one level, on so many levels upwards."""
    kept: dict[int, bytes] = {}
    for _ in range(levels):
        kept |= {n ^ 1: told[n ^ 1] for n in sorted(known) if n ^ 1 not in known}
        known = {n >> 1 for n in known}
    return kept


def _leaf(r: Record) -> bytes:
    return leaf_of(r.kind, r.id, r.key, r.version, r.expires_day)


def _is_in_tree(proof: Proof) -> bool:
    return not proof.index >> len(proof.path)


def roots_of(records: Iterable[Record]) -> list[bytes]:
    """Compute the root that each record's path leads to. Neighbours share most of the way, which is hashed once."""
    known: dict[tuple[bytes, int, tuple[bytes, ...]], bytes] = {}  # by node, its number and its path
    roots = []
    for r in records:
        here, index, path = _leaf(r), r.proof.index, r.proof.path
        way = []
        while (root := known.get((here, index, path))) is None and path:
            way.append((here, index, path))
            here = node(path[0], here) if index & 1 else node(here, path[0])
            index, path = index >> 1, path[1:]
        root = root or here
        known.update(dict.fromkeys(way, root))
        roots.append(root)
    return roots


@dataclass(frozen=True, slots=True)
class PackedRecords:
    """The records of a part of a package, decoded one by one when they are asked for."""

    _encoded: list[bytes]

    def __len__(self) -> int:
        return len(self._encoded)

    def records(self, *, proven: bool) -> list[Record]:
        """Return all records of the frame, with their proofs."""
        return list(map(decode_head, self._encoded))

    def record(self, n: int, *, proven: bool = True) -> Record:
        """Return the n-th record, with its proof; raises ValueError where there is none."""
        try:
            return decode_head(self._encoded[n])
        except IndexError:
            raise ValueError(f"a package of {len(self)} has no number {n}") from None

    def author(self, n: int) -> bytes:
        """Return the public key of the n-th record's author."""
        return self.record(n).proof.author


SharedFrame = RecordGroup | PackedRecords


def open_shared(frame: Frame) -> SharedFrame:
    """Decode a frame that holds several records; raises ValueError."""
    return PackedRecords(split_records(frame.head)) if frame.type == FrameType.PACKAGE else decode_group(frame.head)
