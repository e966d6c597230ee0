"""Lines of digests against a slow table of what is known."""

from random import Random

from dht.admission.neighbourhood import PREFIXES, WHOLE, IdRange
from dht.keys import NodeId
from dht.membership.digest_index import DigestIndex, read_digest

TWINS = [NodeId(bytes(4) + bytes([n]) * 16) for n in range(3)]  # ids with one prefix: somebody made such


def line_of(peer: NodeId, sequence: int) -> int:
    return int.from_bytes(peer[:4], "big") << 32 | sequence


def test_ranges_digests_and_who_knows_more_are_as_in_a_slow_table() -> None:
    rng = Random(1)
    pool = [*TWINS, *(NodeId(rng.randbytes(20)) for _ in range(40))]
    lines, table = DigestIndex(), dict[NodeId, tuple[int, float]]()
    for _ in range(1500):
        peer, sequence, sent = rng.choice(pool), rng.randrange(1, 6), rng.uniform(0.0, 9.0)
        if peer not in table:
            lines.add(peer, line_of(peer, sequence), sent)
        elif rng.random() < 0.2:
            lines.drop(peer)
            del table[peer]
            continue
        else:
            lines.change(peer, line_of(peer, sequence), sent)
        table[peer] = sequence, sent
        low, high = sorted(rng.choice((0, PREFIXES - 1, rng.randrange(PREFIXES))) for _ in range(2))
        block = rng.choice((WHOLE, IdRange(low, high)))
        first, end = lines.span(block)
        inside = sorted(peer for peer in table if block.has(peer))
        assert lines.ids(first, end) == inside and len(lines) == len(table)
        assert sorted(read_digest(lines.digest(first, end) + b"rest")) == sorted(
            line_of(peer, table[peer][0]) for peer in inside
        )
        assert lines.sent_before(first, end, 4.0) == sorted((table[p][1], p) for p in inside if table[p][1] < 4.0)
        theirs = {peer: rng.randrange(1, 6) for peer in pool if peer not in TWINS and rng.random() < 0.7}
        newer = lines.newer(first, end, [line_of(peer, sequence) for peer, sequence in theirs.items()])
        wanted = {peer: theirs.get(peer, 0) for peer in inside if theirs.get(peer, 0) < table[peer][0]}
        assert dict(newer) == wanted and len(newer) == len(wanted)


def test_a_prefix_names_the_first_peer_that_has_it() -> None:
    lines = DigestIndex()
    for peer in reversed(TWINS):
        lines.add(peer, line_of(peer, 1), 0.0)
    assert lines.named(bytes(4)) == TWINS[0] and lines.named(TWINS[2]) == TWINS[2]
    assert lines.named(b"\xff" * 4) is None


def test_many_at_once_are_as_one_by_one() -> None:
    rng, slow, quick = Random(2), DigestIndex(), DigestIndex()
    for _ in range(3):
        added = [(NodeId(rng.randbytes(20)), rng.random()) for _ in range(20)]
        for peer, sent in added:
            slow.add(peer, line_of(peer, 7), sent)
        quick.add_all((peer, line_of(peer, 7), sent) for peer, sent in added)
    assert quick.ids(0, 60) == slow.ids(0, 60) and quick.digest(0, 60) == slow.digest(0, 60)
    assert quick.sent_before(0, 60, 0.5) == slow.sent_before(0, 60, 0.5)
