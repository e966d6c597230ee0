"""Each second of a profile belongs to one mechanism, a library's to the folder that called it."""

import cProfile
import json

import pytest

from benchmarks.crawl.mechanisms import MECHANISMS, mechanism, shares_of
from benchmarks.figures import ROOT
from dht import Identity


def test_every_mechanism_has_its_folder() -> None:
    assert not [place for place in MECHANISMS if not (ROOT / place).is_dir()]


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("store/catalog/ledger.py", "disk: catalog"),
        ("dht/membership/member_table.py", "members, gossip, packets"),
        ("node/extras/simulation/world.py", "the simulation itself"),
        ("node/web/__init__.py", "node: rooms between them"),
        ("tests/sim/judged.py", "event loop and the rest"),
    ],
)
def test_the_longest_folder_that_holds_a_file_counts(file: str, named: str) -> None:
    assert mechanism(str(ROOT / file)) == named


def test_a_library_counts_for_its_caller() -> None:
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(50):
        Identity(bytes(32)).sign(b"", b"x" * 100_000)
    profile.disable()
    assert mechanism(json.__file__) is None
    shares = shares_of(profile)
    assert sum(shares.values()) == pytest.approx(1.0) and shares["members, gossip, packets"] > 0.5
