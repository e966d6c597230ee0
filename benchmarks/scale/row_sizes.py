"""Counts the bytes of the directory's rows: of real pages, and extrapolated to 10⁸ terms."""

from collections.abc import Iterable
from functools import cache
from random import Random

import msgspec
import numpy as np

from benchmarks.figures import Row, row
from benchmarks.scale.cells import Cells
from benchmarks.scale.fan_out import CANDIDATES
from benchmarks.scale.goals import NODE_BYTES_S, NODE_MB
from benchmarks.scale.node_cost import idle_share
from dht import Slot
from dht.identity.sealing import SEAL_BYTES
from dht.wire.packets import HEADER, MAC_BYTES, Part, Question, body_size
from dht.wire.sealed_message import AskedMessage, ToldMessage, Verdict
from index.directory.impact import MOST_LEVEL, DirectoryEpoch
from index.directory.impact_pack import LINE_LEVEL, pack
from index.directory.impact_table import WORD, ImpactTable, empty
from index.directory.messages import LevelsTaken, TellLevels
from index.directory.row_page import MOST_ROWS, RowPage, most_named, pack_page
from index.directory.term_row import SlotEntry, SlotTerm, TermRow, hash_of, merge_row
from index.directory.told_epoch import EPOCH_S, digest_of
from index.shard.impact_teller import TELL_S

TERMS, NODES, COPIES, SLOT_BITS = 100_000_000, 1_000, 3, 14  # slot bits as proposed for so many nodes
MADE_UP_PAGES = 8
TABLES = 1 + 2 * TELL_S / EPOCH_S  # told of at a time, in the mean: the next one twice before it counts
IP_BYTES = 28  # of an IPv4 packet with UDP; IPv6 takes 20 more
CHANNEL_BYTES = 3_390  # all IP packets of a connection that one short question opened, measured on loopback, both ways
CHANNEL_SHARE = 1.05  # what TLS, TCP and IP make of long messages
MEAN_LEVEL, LEVELS_SIGMA = 70, 25  # as on the demo's pages


def size_rows(cells: Cells, terms: Iterable[str]) -> list[Row]:
    """Return what the rows of some terms, neighbours by their hashes, take, and what they would at 10⁸ terms."""
    by_hash = {hash_of(term): cells.row(term) for term in terms}
    size = sum(map(len, _packed(cells.epoch, by_hash)))
    named = sum(len(each.entries) for each in by_hash.values())
    large = made_up_bytes()
    return [
        row(f"rows of {len(by_hash):,} terms, bytes a term", [size / len(by_hash)], "B"),
        row("slots that a row names, mean", [named / len(by_hash)], ""),
        row("the same with df as 1/d², 2¹⁴ slots, bytes a term", [large], "B"),
        row("rows of 10⁸ terms, 3 copies, 1,000 nodes", [node_mb(large)], "MB a node", goal=NODE_MB),
        row("all levels told anew each day, a node's messages", [told_bytes_s(1.0)], "B/s", goal=NODE_BYTES_S),
        row("the same on the line, IP, UDP and TLS included", [told_on_line_s(1.0)], "B/s", goal=NODE_BYTES_S),
        row("a tenth of them each day, a node's messages", [told_bytes_s(0.1)], "B/s", goal=NODE_BYTES_S),
    ]


def node_mb(row_bytes: float, terms: float = TERMS, nodes: float = NODES) -> float:
    """Return the megabytes of rows that one node keeps."""
    return row_bytes * terms * COPIES / nodes / 1e6


def told_bytes_s(share: float, terms: float = TERMS, nodes: float = NODES) -> float:
    """Return the bytes of messages that a node sends to keep the directory when a share of all levels changes each day:
    each of a slot's owners tells each of a term's, and answers as many."""
    tellings = _keepers(nodes) * TABLES / TELL_S * sum(len(each.body) for each in _telling())
    return _levels_bytes_s(share, terms, nodes) + tellings


def told_on_line_s(share: float, terms: float = TERMS, nodes: float = NODES) -> float:
    """Return the bytes of all packets for that: what is short goes by UDP, all levels of a table over a connection for
    each keeper and day."""
    each_s = TABLES / TELL_S * sum(map(_packet_bytes, _telling())) + CHANNEL_BYTES / EPOCH_S
    return _levels_bytes_s(share, terms, nodes) * CHANNEL_SHARE + _keepers(nodes) * each_s


def _keepers(nodes: float) -> float:
    """Whom an owner of slots tells, be it that nothing is new: all who own any."""
    return nodes * (1 - idle_share(nodes))


def _levels_bytes_s(share: float, terms: float, nodes: float) -> float:
    entries, size = told_to_one_keeper()
    return entries * (terms / TERMS) * share * NODES * (NODES / nodes) * size / EPOCH_S  # of one node, to all keepers


def _telling() -> tuple[AskedMessage, ToldMessage]:
    """What a node of so many slots says of a table in which nothing is new, and the answer."""
    spoken, now = digest_of(range(COPIES * (1 << SLOT_BITS) // NODES)), 1.8e9 + 0.1
    head = SLOT_BITS, 7, 5, int(now // EPOCH_S), 1 << 47, 60.5, now, now, 300, 300
    question = TellLevels(*head, (), (), (), (), (), False, pack(empty()), True, spoken)
    asked = AskedMessage(now, TellLevels.__name__, msgspec.msgpack.encode(question))
    return asked, ToldMessage(Verdict.ANSWERED, msgspec.msgpack.encode(LevelsTaken(True, 300, (), True, spoken)))


def _packet_bytes(message: AskedMessage | ToldMessage) -> int:
    box = bytes(len(msgspec.msgpack.encode(message)) + SEAL_BYTES)
    body = Question(0, 0, b"", box) if isinstance(message, AskedMessage) else Part(0, bytes(8), 0, 1, box)
    return HEADER.size + body_size(body) + MAC_BYTES + IP_BYTES


@cache
def told_to_one_keeper() -> tuple[int, float]:
    """Return how many levels one node has for one keeper, of 10⁸ terms in 1,000 nodes where df goes as 1/d², and how
    many bytes each takes when all are told at once."""
    rng, slots = np.random.default_rng(1), 1 << SLOT_BITS
    own = COPIES * slots // NODES
    terms = np.arange(TERMS * own // slots, dtype=np.uint64)
    in_slots = np.minimum((1 / (1 - rng.random(len(terms)))).astype(np.int64), slots)
    held = np.minimum(rng.binomial(in_slots, own / slots), own)
    hashes = np.sort(rng.integers(0, (1 << 64) // slots * own, len(terms), np.uint64))
    words = np.zeros(held.sum(), WORD)
    words["df"] = np.minimum((1 / (1 - rng.random(len(words)))).astype(np.int64), 100_000)
    near = np.sort(rng.choice(CANDIDATES * slots // NODES, own, False))
    words["slot"] = np.concatenate([np.sort(rng.choice(near, count, False)) for count in held if count])
    words["level"] = np.clip(rng.normal(MEAN_LEVEL, LEVELS_SIGMA, len(words)), 1, MOST_LEVEL)
    return len(words), len(pack(ImpactTable(np.repeat(hashes, held), words), LINE_LEVEL)) / len(words)


def made_up_bytes() -> float:
    """Return the bytes a term of rows in a large network, where a node's rows share their hashes' first bytes."""
    rng, epoch = Random(1), DirectoryEpoch(20_000, 5, 5, SLOT_BITS, 10_000_000_000, (10**11,) * 4)
    rows_of_node = TERMS * COPIES // NODES
    pages, size = MADE_UP_PAGES, 0
    span = (1 << 64) * MOST_ROWS // rows_of_node // NODES * COPIES  # of hashes of a page
    for page in range(pages):
        begin = page * ((1 << 64) // pages)
        hashes = sorted(begin + rng.randrange(span) for _ in range(MOST_ROWS))
        rows = {each.to_bytes(8, "big"): _made_up(rng) for each in hashes}
        size += len(pack_page(RowPage(epoch, rows)))
    return size / pages / MOST_ROWS


def _made_up(rng: Random) -> TermRow:
    count = min(int(rng.paretovariate(1.0)), 1 << SLOT_BITS)
    slots = rng.sample(range(1 << SLOT_BITS), count)
    return merge_row((_in_slot(rng, slot) for slot in slots), most_named(MOST_ROWS))


def _in_slot(rng: Random, slot: int) -> SlotTerm:
    df = min(int(rng.paretovariate(1.0)), 100_000)
    return SlotTerm(SlotEntry(Slot(slot), rng.randint(1, 255), df), ((0, df),))


def _packed(epoch: DirectoryEpoch, rows: dict[bytes, TermRow]) -> Iterable[bytes]:
    hashes = sorted(rows)
    for begin in range(0, len(hashes), MOST_ROWS):
        part = hashes[begin : begin + MOST_ROWS]
        yield pack_page(RowPage(epoch, {each: rows[each] for each in part}))
