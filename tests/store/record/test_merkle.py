"""The shared part of a package's records is hashed once, and nothing passes that a path alone would not prove."""

from hashlib import sha256

from hypothesis import given, settings
from hypothesis import strategies as st

from store.record.merkle import Proven, leaf, root_of, tree


@given(st.integers(1, 70), st.randoms(use_true_random=False), st.data())
@settings(max_examples=60, deadline=None)
def test_leaves_in_any_order_are_proved_where_each_alone_leads_to_the_signed_root(count, random, data) -> None:
    leaves = [leaf(bytes([n])) for n in range(count)]
    root, paths = tree(leaves)
    shown = [(leaves[n], n, paths[n]) for n in range(count)]
    for n in data.draw(st.lists(st.integers(0, count - 1), max_size=20)):  # liars among them
        siblings = list(paths[n])
        if siblings:
            siblings[random.randrange(len(siblings))] = sha256(b"another").digest()
        shown += [(leaf(b"another"), n, paths[n]), (leaves[n], n, tuple(siblings))]
        shown.append((leaves[n], (n + 1) % (1 << len(paths[n])), paths[n]))
    random.shuffle(shown)
    proven = Proven()
    for leaf_hash, index, path in shown:
        expected = root_of(leaf_hash, index, path) == root
        assert proven.proves(leaf_hash, index, path, lambda found: found == root) == expected


def test_one_signature_is_checked_for_a_whole_package() -> None:
    leaves = [leaf(bytes([n])) for n in range(64)]
    root, paths = tree(leaves)
    asked: list[bytes] = []
    proven = Proven()
    assert all(proven.proves(leaves[n], n, paths[n], lambda found: not asked.append(found)) for n in range(64))
    assert asked == [root]
