"""A page and a query take no more instructions than their ceilings allow, counted by valgrind."""

import tomllib

import pytest

from benchmarks.instructions import MISSING, NOISE, TASKS, has_valgrind, loop, measure
from tests.ratchet import CEILINGS

TOTAL = 2028822816


def test_each_task_has_a_ceiling():
    assert tomllib.loads(CEILINGS.read_text("utf-8"))["instructions"].keys() == set(TASKS)


def test_the_loop_that_the_ceilings_are_multiples_of_stays_as_it_is():
    assert loop() == TOTAL


@pytest.mark.prove
@pytest.mark.skipif(not has_valgrind(), reason=MISSING)
def test_a_page_and_a_query_take_no_more_instructions_than_their_ceilings():
    ceilings = tomllib.loads(CEILINGS.read_text("utf-8"))["instructions"]
    counts, unit = measure()
    above = {task: n / unit for task, n in counts.items() if n / unit > ceilings[task] * (1 + NOISE)}
    assert not above, f"units, above {ceilings}: CONTRIBUTING.md says when a ceiling may rise"
