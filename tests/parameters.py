"""Parameters of tests that `make prove` alone tries."""

import pytest


def proved(*cases: object) -> list[object]:
    """Return parameters for `make prove`; a tuple holds one for each of several names."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.prove) for case in cases]
