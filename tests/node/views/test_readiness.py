"""Why a node does not serve, as who watches it reads it."""

import pytest

from node.views.readiness import not_ready_reasons


@pytest.mark.parametrize(
    ("status", "first"),
    [
        ({"slots": {"owned": 9, "ready": 0}}, "none of its 9 slots"),
        ({"slots": {"owned": 0, "ready": 0}}, "it owns no slot yet"),
        ({"role": "client", "slots": {}}, "it is a client"),
        ({}, "it owns no slot yet"),
        ({"leaving": {"slots": 4}, "slots": {"owned": 0, "ready": 0}}, "leaving: 4 slots left"),
        ({"leaving": {"slots": 4}, "slots": {"owned": 9, "ready": 9}}, "leaving: 4 slots left"),
    ],
)
def test_a_node_that_serves_nothing_says_its_state_first_and_then_what_it_warns_of(status: dict, first: str) -> None:
    reasons = not_ready_reasons({**status, "warnings": ["its clock is\x1b[31m off"] + ["more"] * 99})
    assert reasons[0].startswith(first) and "its clock is" in reasons[1] and len(reasons) == 6
    assert not any("\x1b" in reason for reason in reasons)


def test_one_ready_slot_is_enough() -> None:
    assert not_ready_reasons({"slots": {"owned": 9, "ready": 1}, "warnings": ["its clock is off"]}) == ()
