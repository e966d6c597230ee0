"""How long pages live: curves and half-lives that were worked out by hand, and those of a law that is known."""

from math import log
from random import Random

import pytest

from node.captures.capture import DAY_S, Lifetime
from node.extras.web_report.page_life import AliveAtAge, page_life

DAY_0 = 20_000 * DAY_S


def _life(page: int, seen: float, gone: float | None = None) -> Lifetime:
    """A page found on the first day, last seen after so many days, and found gone after so many."""
    return Lifetime(page, DAY_0, DAY_0 + seen * DAY_S, DAY_0 + gone * DAY_S if gone is not None else 0.0)


def test_the_curve_and_the_half_life_are_those_of_a_table_by_hand() -> None:
    """Five pages: gone at 4 (seen at 3, not at 5), seen until 5, gone at 8 (7, 9), gone at 12 (10, 14), seen until 40.

    At 4: 4 of 5 live on, .8. At 8: 2 of 3, .533. At 12: 1 of 2, .267. Days at risk: 4 + 5 + 8 + 12 + 40 = 69."""
    life = page_life([_life(1, 3, 5), _life(2, 5), _life(3, 7, 9), _life(4, 10, 14), _life(5, 40)])
    assert (life.pages, life.gone, life.undated, life.watched_days) == (5, 3, 0, 69)
    assert life.alive == (
        AliveAtAge(1, 1.0, 5),
        AliveAtAge(3, 1.0, 5),
        AliveAtAge(7, 0.8, 3),
        AliveAtAge(14, pytest.approx(0.8 * 2 / 3 / 2), 1),
        AliveAtAge(30, pytest.approx(0.8 * 2 / 3 / 2), 1),
    )
    assert (life.half_life, life.half_life_least, life.half_life_most) == (12, 10, 14)
    assert life.exponential and life.exponential.half_life == pytest.approx(log(2) * 69 / 3)


def test_the_half_life_of_a_known_law_is_found() -> None:
    """4,000 pages with a half-life of 30 days, watched once a day for 1 to 90 days."""
    rng, lives = Random(5), []
    for page in range(4000):
        died, watched = rng.expovariate(log(2) / 30), rng.randrange(1, 90)
        lives.append(_life(page, int(died), int(died) + 1) if died < watched else _life(page, watched))
    life = page_life(lives)
    assert life.half_life and life.exponential and life.half_life_least and life.half_life_most
    assert 27 < life.half_life < 33 and life.half_life_least + 1 == pytest.approx(life.half_life_most)
    assert 28 < life.exponential.half_life < 32
    assert life.exponential.least < 30 < life.exponential.most


def test_a_page_that_returned_lives_and_one_that_is_asked_for_again_died_no_later() -> None:
    """The newest visit counts. A visit long after the death says nothing of it, since gone pages are asked for
    again and again: nobody leaves a page unseen for more than 60 days."""
    life = page_life([_life(1, 3, 5), _life(1, 20), _life(2, 10, 500)])
    assert (life.pages, life.gone) == (2, 1)
    assert (life.half_life_least, life.half_life, life.half_life_most) == (10, 40, 70)


def test_little_or_nothing_gives_no_half_life() -> None:
    alive = page_life([_life(1, 3), _life(2, 30)])
    assert (alive.half_life, alive.exponential, alive.alive[-1].share) == (None, None, 1.0)
    nothing = page_life([Lifetime(1, 0.0, 0.0)])
    assert (nothing.pages, nothing.undated, nothing.alive, nothing.half_life) == (0, 1, (), None)
