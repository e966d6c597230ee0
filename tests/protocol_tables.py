"""The wire types of messages in the words of PROTOCOL.md, computed from the code, to be held against the document."""

import types
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

BODY_BYTES = 8 << 20  # the bound of a whole request or answer
ANY = 1 << 62  # more bytes than any message has: no bound of its own


def rows_of(struct: type[Struct]) -> list[tuple[str, str, str]]:
    """Return the name, the type and the encoded size in bytes of each field of a struct, in the order on the wire."""
    hints = get_type_hints(struct, include_extras=True)
    names = [field.name for field in msgspec.structs.fields(struct)]
    return [(name, type_word(hints[name]), size_word(*size_of(hints[name]))) for name in names]


def structs_in(hint: Any) -> Iterator[type[Struct]]:
    """Yield a struct and those that its fields hold, however deep."""
    base, _ = _parts(hint)
    if isinstance(base, type) and issubclass(base, Struct):
        yield base
        for inner in get_type_hints(base, include_extras=True).values():
            yield from structs_in(inner)
    for argument in get_args(base):
        yield from structs_in(argument)


def type_word(hint: Any) -> str:
    """Return the document's word for a type: uint, float, bool, bytes, text, [element, …], {key: value} or a struct."""
    base, _ = _parts(hint)
    if get_origin(base) is Literal or (isinstance(base, type) and issubclass(base, IntEnum)):
        return "uint"
    if base in (int, float, bool, bytes, str):
        return {int: "uint", float: "float", bool: "bool", bytes: "bytes", str: "text"}[base]
    arguments = get_args(base)
    if get_origin(base) is tuple:
        return f"[{type_word(arguments[0])}]" if arguments[-1] is ... else f"({', '.join(map(type_word, arguments))})"
    if get_origin(base) is dict:
        return f"{{{type_word(arguments[0])}: {type_word(arguments[1])}}}"
    if get_origin(base) in (Union, types.UnionType):
        return " or ".join("nil" if a is type(None) else type_word(a) for a in arguments)
    return str(base.__name__)


def size_of(hint: Any) -> tuple[int, int]:
    """Return the least and the greatest number of bytes that msgpack takes for a value of a type."""
    base, meta = _parts(hint)
    if get_origin(base) is Literal or (isinstance(base, type) and issubclass(base, IntEnum)):
        return 1, 1
    if base is bool:
        return 1, 1
    if base is float:
        return 9, 9
    if base is int:
        least = meta.ge if meta.ge is not None else 0
        most = meta.le if meta.le is not None else meta.lt - 1 if meta.lt is not None else (1 << 64) - 1
        return _number(int(least)), _number(int(most))
    if base in (bytes, str):
        width, short = (4, 31) if base is str else (1, -1)
        return _run(meta, (1, 1), (width, width), short, byte_heads=True)
    arguments = get_args(base)
    if get_origin(base) is tuple and arguments[-1] is not ...:
        sizes = [size_of(a) for a in arguments]
        return 1 + sum(s[0] for s in sizes), 1 + sum(s[1] for s in sizes)
    if get_origin(base) is tuple:
        each = size_of(arguments[0])
        return _run(meta, each, each, 15)
    if get_origin(base) is dict:
        key, value = map(size_of, arguments)
        each = (key[0] + value[0], key[1] + value[1])
        return _run(meta, each, each, 15)
    if get_origin(base) in (Union, types.UnionType):
        sizes = [(1, 1) if a is type(None) else size_of(a) for a in arguments]
        return min(s[0] for s in sizes), max(s[1] for s in sizes)
    fields = msgspec.structs.fields(base)
    hints = get_type_hints(base, include_extras=True)
    sizes = [size_of(hints[f.name]) for f in fields]
    needed = [s[0] for f, s in zip(fields, sizes, strict=True) if f.required]
    return 1 + sum(needed), (1 if len(fields) < 16 else 3) + sum(s[1] for s in sizes)


def size_word(least: int, most: int) -> str:
    """Return a range of sizes as the document writes it; `body` where only the body of the message bounds it."""
    if most > BODY_BYTES:
        return f"{least:,} … body"
    return f"{least:,}" if least == most else f"{least:,} … {most:,}"


def _parts(hint: Any) -> tuple[Any, Meta]:
    """Return a type without its annotation, and what the annotation bounds."""
    if get_origin(hint) is Annotated:
        base, *notes = get_args(hint)
        return base, next((n for n in notes if isinstance(n, Meta)), Meta())
    return hint, Meta()


def _run(
    meta: Meta, least_each: tuple[int, int], most_each: tuple[int, int], short: int, *, byte_heads: bool = False
) -> tuple[int, int]:
    """Return the sizes of a text, a byte string or an array: its head and its elements, by its bounds."""
    fewest, most = meta.min_length or 0, meta.max_length
    least = _head(fewest * least_each[0] if byte_heads else fewest, short, byte_heads) + fewest * least_each[0]
    if most is None or most_each[1] >= ANY:
        return least, ANY
    elements = most * most_each[1]
    return least, _head(elements if byte_heads else most, short, byte_heads) + elements


def _head(count: int, short: int, byte_heads: bool) -> int:
    if count <= short:
        return 1
    if byte_heads and count < 256:
        return 2
    return 3 if count < 1 << 16 else 5


def _number(value: int) -> int:
    return 1 if value < 128 else 2 if value < 256 else 3 if value < 1 << 16 else 5 if value < 1 << 32 else 9
