"""A page's number says its slot, and names it there."""

import numpy as np

from dht import document_id, placement_key, slot_of
from index.rank.page_number import NAME_MASK, names_of, page_number, slots_of


def test_numbers_say_the_slot_as_placement_does() -> None:
    urls = [f"https://site{n}.test/{n % 7}" for n in range(50)]
    numbers = np.array([page_number(placement_key(url), document_id(url)) for url in urls], np.uint64)
    for bits in (0, 1, 6, 16):
        assert slots_of(numbers, bits).tolist() == [slot_of(placement_key(url), bits) for url in urls]
    assert names_of(numbers).tolist() == [int(number) & NAME_MASK for number in numbers]
    assert len(set(names_of(numbers).tolist())) == len(urls)
