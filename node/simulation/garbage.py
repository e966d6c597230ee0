"""A simulation is many objects that stay: to look through them for garbage often costs a tenth of its time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

RARELY = (100_000, 50, 100)


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Within this, garbage in cycles waits longer until it is found."""
    thresholds = gc.get_threshold()
    gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
