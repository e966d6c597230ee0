"""Examples of everything that goes over the wire, made from the types alone."""

from typing import Any

from msgspec import inspect


def example(kind: Any, extra: tuple[Any, ...] = ()) -> Any:
    """Return the least value of a type as it is encoded, every field filled in; `extra` ends every array of fields."""
    return _value(inspect.type_info(kind), extra)


def _value(kind: Any, extra: tuple[Any, ...]) -> Any:
    match kind:
        case inspect.Metadata():
            return _value(kind.type, extra)
        case inspect.StructType():
            return [_value(field.type, extra) for field in kind.fields] + list(extra)
        case inspect.CustomType() | inspect.RawType() | inspect.AnyType():
            return None
        case inspect.NoneType():
            return None
        case inspect.BoolType():
            return True
        case inspect.IntType():
            least = kind.ge if kind.ge is not None else (kind.gt + 1 if kind.gt is not None else 0)
            return max(least, 1 if kind.le is None or kind.le > 0 else 0)
        case inspect.FloatType():
            return 0.5
        case inspect.StrType():
            return "a" * max(kind.min_length or 0, 1)
        case inspect.BytesType():
            return b"a" * max(kind.min_length or 0, min(kind.max_length or 1, 1))
        case inspect.EnumType():
            return next(iter(kind.cls)).value
        case inspect.LiteralType():
            return kind.values[0]
        case inspect.TupleType():
            return [_value(item, extra) for item in kind.item_types]
        case inspect.VarTupleType() | inspect.ListType() | inspect.FrozenSetType() | inspect.SetType():
            return [_value(kind.item_type, extra)] * max(kind.min_length or 0, 1)
        case inspect.DictType():
            return {_value(kind.key_type, extra): _value(kind.value_type, extra)}
        case inspect.UnionType():
            return _value(next(t for t in kind.types if not isinstance(t, inspect.NoneType)), extra)
    raise TypeError(f"no example of {kind}")
