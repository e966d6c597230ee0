"""Where the anchors of a page lie: a number of its own for each domain, at each page another."""

from collections import Counter

from dht import document_id
from store.record.anchor import MOST_ANCHORS, anchor_id, anchors_of, are_asked, stem_of

PAGES = [document_id(f"https://port.example/{n}") for n in range(256)]
DOMAINS = [f"domain{n}.example" for n in range(400)]


def test_a_domain_that_shares_the_number_of_another_at_one_page_is_in_its_way_there_alone() -> None:
    victim, *others = DOMAINS
    shared = [other for other in others if anchor_id(PAGES[0], other) == anchor_id(PAGES[0], victim)]
    assert shared, "whoever tries many names finds one"
    for other in shared:
        in_the_way = sum(anchor_id(page, other) == anchor_id(page, victim) for page in PAGES)
        assert in_the_way < len(PAGES) / 10


def test_all_numbers_are_used_and_belong_to_their_page() -> None:
    numbers = Counter(anchor_id(PAGES[0], domain)[-1] for domain in DOMAINS)
    assert set(numbers) <= set(range(MOST_ANCHORS)) and len(numbers) > MOST_ANCHORS * 0.9
    for page in PAGES[:8]:
        id = anchor_id(page, DOMAINS[0])
        assert id == anchor_id(id, DOMAINS[0]) and stem_of(id) == stem_of(page)
        assert anchors_of(id) == anchors_of(page) and are_asked(anchors_of(page)) and not are_asked(id)
