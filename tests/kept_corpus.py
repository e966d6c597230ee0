"""Bytes that the fuzzers begin with, beside what they make themselves: a later version meets what an earlier one wrote.

`tests/data/corpus/` has one well-formed example of every packet, message and form of a frame, and, under names that
begin with `bad-`, inputs that once did harm, or nearly. Files are added and never changed;
`python -m tests.keep_examples` writes the examples that are missing.
"""

from pathlib import Path

CORPUS = Path(__file__).parent / "data" / "corpus"
BAD = "bad-"
REMEDY = "python -m tests.keep_examples writes what is missing"


def kept_examples(what: str) -> dict[str, bytes]:
    """Return the well-formed examples of packets, messages or segments, by name."""
    return {name: data for name, data in _all(what).items() if not name.startswith(BAD)}


def kept_bad(what: str) -> dict[str, bytes]:
    """Return what once did harm, by name; it begins with the kind and a "-" where it is of one."""
    return {name.removeprefix(BAD): data for name, data in _all(what).items() if name.startswith(BAD)}


def keep(what: str, name: str, data: bytes) -> None:
    """Write an example unless there is one of this name."""
    path = CORPUS / what / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(f"kept {what}/{name}: {len(data)} bytes")


def _all(what: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((CORPUS / what).iterdir())}
