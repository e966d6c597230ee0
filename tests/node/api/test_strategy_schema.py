"""The JSON Schema of strategies: a validator takes what nodes take, and refuses what they refuse."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from dht import (
    Admitter,
    BadStrategy,
    Gone,
    Revocation,
    Rule,
    Strategy,
    check_bounds,
    encode_document,
)
from dht.strategy.document import Need
from node.api.body import Json
from node.api.strategy_schema import strategy_schema
from node.web.requests.openapi import openapi

NODE, KEY = "ab" * 20, "cd" * 32
WHOLE = Strategy(
    network=NODE,
    version=2,
    previous=KEY,
    effective_at=1_800_000_000,
    expires_at=1_900_000_000,
    next_at=1_850_000_000,
    rules=(
        Rule(action="deny", host="*.example.com", pattern="/x", slots=(0, 9)),
        Rule(action="prefer", host="a.test", peer=NODE, max_depth=3, min_delay_s=2.5),
        Rule(action="spread", host="b.test", depth=3),
        Rule(action="only", prefixes=("10.20.0.0/16", "2001:db8::/48")),
        Rule(action="never", host="a.test", prefixes=("192.0.2.0/24",)),
    ),
    blocked=(NODE,),
    gone=(Gone(NODE, 5),),
    publishers=(KEY,),
    admission="invited",
    admitters=(Admitter(KEY),),
    revoked=(Revocation(NODE), Revocation(KEY, 7)),
    importers=(KEY,),
    needs=(Need("a"),),
)
KINDS = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}


def flaws(schema: Json, value: Any, types: Json, at: str = "$") -> Iterator[str]:
    """Validate a value by those keywords of JSON Schema 2020-12 that the schema uses; others raise KeyError."""
    for keyword, said in schema.items():
        if not _CHECKS[keyword](said, value):
            yield f"{at}: {keyword} {said}"
    if "$ref" in schema:
        yield from flaws(types[schema["$ref"].rpartition("/")[2]], value, types, at)
    if "anyOf" in schema and all(any(flaws(each, value, types)) for each in schema["anyOf"]):
        yield f"{at}: none of anyOf"
    for each in schema.get("allOf", ()):
        yield from flaws(each, value, types, at)
    if "if" in schema:
        branch = "else" if any(flaws(schema["if"], value, types)) else "then"
        yield from flaws(schema.get(branch, {}), value, types, at)
    if "not" in schema and not any(flaws(schema["not"], value, types)):
        yield f"{at}: not {schema['not']}"
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name, item in value.items():
            yield from flaws(known.get(name, {}), item, types, f"{at}.{name}")
            if name not in known and schema.get("additionalProperties") is False:
                yield f"{at}.{name}: is no field"
    if isinstance(value, list):
        first = schema.get("prefixItems", ())
        for place, item in enumerate(value):
            inner = first[place] if place < len(first) else schema.get("items", {})
            yield from flaws({} if inner is False else inner, item, types, f"{at}[{place}]")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CHECKS: dict[str, Any] = {
    **dict.fromkeys(
        (
            *("$schema", "$defs", "$ref", "title", "description", "default", "properties", "items", "prefixItems"),
            *("anyOf", "allOf", "if", "then", "else", "not"),
        ),
        lambda said, value: True,
    ),
    "additionalProperties": lambda said, value: True,
    "type": lambda said, value: value is None if said == "null" else isinstance(value, KINDS[said]),
    "enum": lambda said, value: value in said,
    "required": lambda said, value: all(name in value for name in said),
    "minimum": lambda said, value: not _number(value) or value >= said,
    "maximum": lambda said, value: not _number(value) or value <= said,
    "minLength": lambda said, value: not isinstance(value, str) or len(value) >= said,
    "maxLength": lambda said, value: not isinstance(value, str) or len(value) <= said,
    "minItems": lambda said, value: not isinstance(value, list) or len(value) >= said,
    "maxItems": lambda said, value: not isinstance(value, list) or len(value) <= said,
    "pattern": lambda said, value: not isinstance(value, str) or bool(re.search(said, value)),
}


def found(value: Any) -> list[str]:
    schema = strategy_schema()
    return list(flaws(schema, value, schema["$defs"]))


def test_every_field_of_every_type_has_words() -> None:
    for name, kind in strategy_schema()["$defs"].items():
        for field, schema in kind["properties"].items():
            assert schema.get("description"), f"describe {name}.{field} in node/api/strategy_schema.py"


def test_what_nodes_sign_and_show_is_valid() -> None:
    check_bounds(WHOLE)
    smallest = Strategy(network=NODE, version=1, effective_at=0, next_at=1, expires_at=1, publishers=(KEY,))
    for strategy in (WHOLE, smallest):
        assert found(msgspec.json.decode(encode_document(strategy))) == []
        assert found(msgspec.json.decode(msgspec.json.encode(strategy))) == []
    newer = msgspec.json.decode(encode_document(WHOLE)) | {"a_field_of_a_newer_release": 1}
    assert found(newer) == [], "older readers pass over what newer releases add"


BOUNDED = [
    (name, edge, beyond)
    for name, schema in strategy_schema()["$defs"]["Strategy"]["properties"].items()
    for edge, beyond in (
        *([(schema["minimum"], schema["minimum"] - 1)] if "minimum" in schema else []),
        *([(schema["maximum"], schema["maximum"] + 1)] if "maximum" in schema else []),
    )
]
TIED = {"version", "effective_at", "expires_at", "next_at", "min_acks", "threshold", "min_delay_s", "max_delay_s"}


@pytest.mark.parametrize(("name", "edge", "beyond"), [each for each in BOUNDED if each[0] not in TIED])
def test_bounds_are_those_that_nodes_check(name: str, edge: float, beyond: float) -> None:
    wide = replace(WHOLE, replicas=16, former_days=365, **({} if name != "replicas" else {"min_acks": 1}))
    wide = replace(wide, former_last=0) if name == "former_days" else wide
    check_bounds(replace(wide, **{name: edge}))
    with pytest.raises(BadStrategy):
        check_bounds(replace(wide, **{name: beyond}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"network": "AB" * 20},
        {"version": 0},
        {"version": "2"},
        {"replicas": 17},
        {"slot_bits": 3},
        {"publishers": []},
        {"blocked": ["ab"]},
        {"rules": [{"action": "slow"}]},
        {"rules": [{"hosts": "a.test"}]},
        {"rules": [{"action": "never", "prefixes": []}]},
        {"rules": [{"action": "prefer", "peer": "ab"}]},
        {"rules": [{"action": "prefer"}]},
        {"rules": [{"action": "only", "prefixes": None}]},
        {"rules": [{"action": "deny", "prefixes": ["10.0.0.0/8"]}]},
        {"rules": [{"peer": NODE}]},
        {"rules": [{}] * 1001},
        {"needs": [{"feature": ""}]},
        {"gone": [{"id": NODE}]},
    ],
)
def test_what_nodes_refuse_is_invalid(wrong: Json) -> None:
    document = msgspec.json.decode(encode_document(WHOLE)) | wrong
    assert found(document)
    assert found({name: value for name, value in document.items() if name != "expires_at"})


def test_the_openapi_document_has_the_fields_in_words() -> None:
    written = openapi("1")
    shown = written["components"]["schemas"]["StrategyShown"]["properties"]
    assert shown["replicas"]["description"] == "copies of each record" and shown["digest"]["description"]
    get = written["paths"]["/api/v1/strategy"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert get["$ref"].endswith("/StrategyShown")
    sent = written["paths"]["/api/v1/strategy"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert sent["$ref"].endswith("/SignedDocument")
    assert written["components"]["schemas"]["Rule"]["properties"]["prefixes"]["description"]
