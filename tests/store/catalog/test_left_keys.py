"""What is remembered of moves is bounded, and never claimed to be all when it is not."""

from dht import Key
from store.catalog.left_keys import MOST_LEFT, LeftKeys


def test_what_was_left_since_a_change_is_known_until_too_much_was_left_since() -> None:
    left = LeftKeys()
    keys = [Key(n.to_bytes(20, "big")) for n in range(1, MOST_LEFT + 2)]
    for sequence, key in enumerate(keys[:-1], start=1):
        left.note(sequence, key)
    assert left.since(0) == set(keys[:-1])
    assert left.since(MOST_LEFT - 1) == {keys[-2]}
    left.note(MOST_LEFT + 1, keys[-1])
    assert left.since(0) is None, "the first of them is forgotten"
    assert left.since(1) == set(keys[1:])
