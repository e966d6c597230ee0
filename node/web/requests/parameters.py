"""Reads the query of a request by the table of routes: typed, bounded, or a BadParameter that names what is wrong.

Pure: a mapping of texts in, values out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from node.views.safe_text import plain
from node.web.requests.problems import BadParameter
from node.web.requests.routes import MAX_URL, HttpRoute, Parameter

MAX_SHOWN = 64  # characters of a wrong name or value

_TRUE, _FALSE = frozenset({"1", "true", "yes", "on", ""}), frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Values:
    """Holds what a request asked for; each getter is for one kind of parameter of its route."""

    found: dict[str, str | int | bool | tuple[str, ...]]

    def text(self, name: str) -> str:
        """Return a parameter of kind "text"."""
        return str(self.found[name])

    def count(self, name: str) -> int:
        """Return a parameter of kind "count"."""
        return int(str(self.found[name]))

    def flag(self, name: str) -> bool:
        """Return a parameter of kind "flag"."""
        return self.found[name] is True

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a parameter of kind "texts", as often as it was given."""
        value = self.found[name]
        return value if isinstance(value, tuple) else ()


def read_parameters(route: HttpRoute, query: Sequence[tuple[str, str]]) -> Values:
    """Read a route's parameters from (name, value) pairs; raises BadParameter. The API also refuses slips that would
    change the answer unseen. Pages and other programs' routes bear with them."""
    if route.path.startswith("/api/"):
        _refuse_slips(route, query)
    return _read(route.parameters, query)


def read_fields(route: HttpRoute, fields: Sequence[tuple[str, str]]) -> Values:
    """Read the fields of a route's form from (name, value) pairs, ignoring unknown names; raises BadParameter."""
    return _read(route.form, fields)


def _refuse_slips(route: HttpRoute, query: Sequence[tuple[str, str]]) -> None:
    """Raise BadParameter for an unknown name, a second value where one counts, or bytes that are no UTF-8."""
    known = {parameter.name: parameter.kind for parameter in route.parameters}
    given: set[str] = set()
    for name, value in query:
        if name not in known:
            reason = f"is not a parameter of {route.path}, which takes {', '.join(known) or 'none'}"
            raise BadParameter(plain(name, MAX_SHOWN), reason)
        if name in given and known[name] != "texts":
            raise BadParameter(name, f"is given twice, the second time as {plain(value, MAX_SHOWN)!r}; give it once")
        if "\ufffd" in value:
            raise BadParameter(name, f"is {plain(value, MAX_SHOWN)!r}; it takes UTF-8, as %C3%A9 for é")
        given.add(name)


def _read(wanted: Sequence[Parameter], given: Sequence[tuple[str, str]]) -> Values:
    return Values({parameter.name: _value(parameter, given) for parameter in wanted})


def _value(parameter: Parameter, query: Sequence[tuple[str, str]]) -> str | int | bool | tuple[str, ...]:
    given = [value for name, value in query if name == parameter.name]
    if parameter.kind == "texts":
        return _texts(parameter, given)
    if not given:
        if parameter.default is None:
            raise BadParameter(parameter.name, f"is missing; it takes {parameter.about}")
        return parameter.default
    match parameter.kind:
        case "count":
            return _count(parameter, given[-1])
        case "flag":
            return _flag(parameter, given[-1])
        case _:
            return _text(parameter, given[-1])


def _text(parameter: Parameter, value: str) -> str:
    if len(value) > parameter.most:
        raise BadParameter(parameter.name, f"has {len(value)} characters, at most {parameter.most} are read")
    if parameter.default is None and not value.strip():
        raise BadParameter(parameter.name, f"is empty; it takes {parameter.about}")
    if parameter.choices and value not in (parameter.default, *parameter.choices):
        raise _wrong(parameter, value, ", ".join(parameter.choices))
    return value


def _count(parameter: Parameter, value: str) -> int:
    is_number = value.isascii() and value.isdecimal() and len(value) <= 9
    if not is_number or not parameter.least <= int(value) <= parameter.most:
        raise _wrong(parameter, value, f"a whole number from {parameter.least} to {parameter.most}")
    return int(value)


def _flag(parameter: Parameter, value: str) -> bool:
    if value.lower() not in _TRUE | _FALSE:
        raise _wrong(parameter, value, "true or false")
    return value.lower() in _TRUE


def _wrong(parameter: Parameter, value: str, takes: str) -> BadParameter:
    return BadParameter(parameter.name, f"is {plain(value, MAX_SHOWN)!r}; it takes {takes}")


def _texts(parameter: Parameter, given: list[str]) -> tuple[str, ...]:
    if not given and parameter.default is None:
        raise BadParameter(parameter.name, f"is missing; it takes {parameter.about}")
    if not parameter.least <= len(given) <= parameter.most:
        raise BadParameter(parameter.name, f"is given {len(given)} times, at most {parameter.most} are read")
    if any(len(value) > MAX_URL for value in given):
        raise BadParameter(parameter.name, f"is longer than {MAX_URL} characters")
    return tuple(given)
