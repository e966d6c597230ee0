"""Makes whole bodies from a few fields, the others empty, and checks the shape of bodies."""

from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

Body = TypeVar("Body")


def junk(names: st.SearchStrategy[str] = st.text(max_size=3)) -> st.SearchStrategy[Any]:  # noqa: B008
    """Make plain data of any shape, whose fields have these names."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    nested = lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)  # noqa: E731
    return st.recursive(leaves, nested, max_leaves=5)


def filled(kind: type[Body], given: dict[str, Any]) -> Body:
    return msgspec.convert(_whole(inspect.type_info(kind), given), kind)


def has_shape(raw: bytes, kind: Any) -> bool:
    """Tell whether JSON has all fields of a type of bodies, each as it should be, and no other."""
    told = msgspec.json.decode(raw)
    return msgspec.json.decode(msgspec.json.encode(msgspec.convert(told, kind))) == told


def _whole(kind: inspect.Type, given: Any) -> Any:
    """Return the given value with every field that must be there."""
    if isinstance(kind, inspect.StructType):
        wanted = [each for each in kind.fields if each.required or each.encode_name in given]
        return {each.encode_name: _whole(each.type, given.get(each.encode_name, _empty(each.type))) for each in wanted}
    if isinstance(kind, inspect.ListType):
        return [_whole(kind.item_type, each) for each in given]
    if isinstance(kind, inspect.DictType):
        return {name: _whole(kind.value_type, each) for name, each in given.items()}
    if isinstance(kind, inspect.UnionType) and given is not None:
        return _whole(next(each for each in kind.types if not isinstance(each, inspect.NoneType)), given)
    return given


def _empty(kind: inspect.Type) -> Any:
    if isinstance(kind, inspect.UnionType):
        return None if any(isinstance(each, inspect.NoneType) for each in kind.types) else _empty(kind.types[0])
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    empty = {inspect.IntType: 0, inspect.FloatType: 0.0, inspect.StrType: "", inspect.BoolType: False}
    return [] if isinstance(kind, inspect.ListType) else empty.get(type(kind), {})
