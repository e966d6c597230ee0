"""How many queries, how fast: counted without their words, and within bounds."""

from node.owner.query_meter import KEPT, QueryMeter


def test_shares_are_of_the_last_answers_and_the_count_is_of_all() -> None:
    meter = QueryMeter()
    assert meter.state().plain() == {"asked": 0, "p50_ms": None, "p95_ms": None}
    meter.note(0.25)
    assert meter.state().plain() == {"asked": 1, "p50_ms": 250.0, "p95_ms": 250.0}
    for ms in range(KEPT + 1):  # 0 … 200: the first ones are no longer among the last
        meter.note(ms / 1000)
    assert meter.state().plain() == {"asked": KEPT + 2, "p50_ms": 101.0, "p95_ms": 190.0}
