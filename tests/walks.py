"""Reads the walks through the code out of CONTRIBUTING.md."""

import re

STEP = re.compile(r"^\| (\d+) \| `([^`]+)` \| `([^`]+)` \| .+ \|$", re.M)


def walks_of(text: str) -> list[list[tuple[str, str]]]:
    """Return the steps (file, definition) of each walk; a walk begins at its step 1."""
    walks: list[list[tuple[str, str]]] = []
    for number, file, definition in STEP.findall(text):
        if number == "1":
            walks.append([])
        walks[-1].append((file, definition))
    return walks
