"""The small words of languages, one list each: they carry grammar, and tell in which language a text is.

The lists lie in `stop_lists`, whose SOURCE says whence they are.
"""

from functools import cache
from pathlib import Path

_LISTS = Path(__file__).with_name("stop_lists")


@cache
def stop_lists() -> dict[str, tuple[str, ...]]:
    """Return the small words of each language (ISO 639-1), as people write them."""
    return {path.stem: tuple(path.read_text(encoding="utf-8").split()) for path in sorted(_LISTS.glob("*.txt"))}
