"""`doctor --network` names each thing that a network of strangers lacks, with its remedy, and nothing else."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from bootstrap import load_network, new_network
from dht import Identity, Strategy
from node.strategy.founding import OPEN
from node.views.public_network import public_findings

NOW = 1_800_000_000.0
KEYS = [Identity(bytes([n]) * 32) for n in (1, 2, 3)]
SEEDS = dict.fromkeys(("a.commons.example", "b.commons.example", "c.commons.example"), True)
SPAN = {"effective_at": int(NOW), "next_at": int(NOW) + 86_400, "expires_at": int(NOW) + 366 * 86_400}
STRATEGY = Strategy(network="", version=1, threshold=2, **SPAN, **OPEN)  # type: ignore[arg-type]
SEED_NAMES = [f"{name}:8091" for name in SEEDS]
PAGE = "https://commons.example/crawler"
NETWORK = load_network(new_network("commons", KEYS, STRATEGY, threshold=2, seeds=SEED_NAMES, info_url=PAGE))
KEPT = msgspec.structs.replace(STRATEGY, publishers=tuple(key.public_key.hex() for key in KEYS))


def bad(network: Any = NETWORK, members: int = 5, own_keys: int = 0, resolved: Any = SEEDS, **fields: Any) -> set[str]:
    strategy = msgspec.structs.replace(KEPT, **fields)
    findings = public_findings(network, strategy, members, own_keys, resolved, NOW)
    return {each.name for each in findings if each.health == "bad" and each.remedy}


def test_a_network_that_is_ready_has_nothing_to_mend() -> None:
    assert bad() == set()
    assert bad(admission="invited", puzzle_bits=0, min_age_days=0) == set()
    assert bad(resolved={}, bootstrap=("9.9.9.9:8091", "[2a00::1]:8091", "198.17.0.9:8091")) == set()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("entrances", {"resolved": {**SEEDS, "a.commons.example": False}}),
        ("entrances", {"resolved": {"a.commons.example": True, "b.commons.example": True}}),
        ("entrances", {"bootstrap": ("10.0.0.1:8091",)}),
        ("entrances", {"declared_prefixes": ("10.0.0.0/8",)}),
        ("contact", {"network": replace(NETWORK, info_url="")}),
        ("contact", {"network": replace(NETWORK, info_url="http://commons.example/")}),
        ("publishers", {"threshold": 1}),
        ("publishers", {"threshold": 3}),
        ("keys off line", {"own_keys": 1}),
        ("admission", {"puzzle_bits": 8}),
        ("admission", {"min_age_days": 0}),
        ("copies", {"replicas": 2}),
        ("copies", {"min_acks": 1}),
        ("members", {"members": 4}),
        ("politeness", {"min_delay_s": 0.5}),
        ("next version", {"expires_at": int(NOW) + 30 * 86_400}),
    ],
)
def test_each_thing_that_is_missing_is_named(name: str, wrong: dict[str, Any]) -> None:
    assert bad(**wrong) == {name}
