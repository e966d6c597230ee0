"""Tests written as coroutines whose first parameter a decorator makes, such as a simulated network."""

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from inspect import Signature, signature

Story = Callable[..., Awaitable[None]]
Test = Callable[..., None]


def as_test(story: Story, run: Callable[[Story], object]) -> Test:
    """Return a test with the parameters of a coroutine but the first, which `run` gives before it waits for the end."""

    @wraps(story)
    def test(**given: object) -> None:
        run(partial(story, **given))

    _, *others = signature(story).parameters.values()
    test.__signature__ = Signature(others)  # type: ignore[attr-defined]
    return test
