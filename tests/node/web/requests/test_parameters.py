"""Reading a query: any pairs give values within bounds, or an error that names the parameter."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.web.requests.parameters import read_parameters
from node.web.requests.problems import BadParameter
from node.web.requests.route_table import ROUTES, route

NAMES = st.sampled_from(sorted({parameter.name for entry in ROUTES for parameter in entry.parameters} | {"other"}))


@given(st.sampled_from(ROUTES), st.lists(st.tuples(NAMES, st.text(max_size=12) | st.integers().map(str)), max_size=6))
@settings(max_examples=300, deadline=None)
def test_values_are_within_bounds_or_refused_by_name(entry, query) -> None:  # type: ignore[no-untyped-def]
    known, is_api = {parameter.name for parameter in entry.parameters}, entry.path.startswith("/api/")
    try:
        values = read_parameters(entry, query)
    except BadParameter as error:
        unknown = dict(query).keys() - known if is_api else set()
        assert error.name in known | unknown
        return
    assert not is_api or dict(query).keys() <= known
    assert not is_api or len(query) == len(dict(query)) or entry.name in ("document", "documents")
    for parameter in entry.parameters:
        if parameter.kind == "count":
            assert parameter.least <= values.count(parameter.name) <= parameter.most
        elif parameter.kind == "text":
            text = values.text(parameter.name)
            assert len(text) <= parameter.most
            assert not parameter.choices or text in (parameter.default, *parameter.choices)


def test_of_several_values_a_page_takes_the_last_and_the_api_none() -> None:
    twice = [("q", "a"), ("q", "b"), ("explain", "")]
    assert read_parameters(route("results"), twice).text("q") == "b"
    with pytest.raises(BadParameter, match="q: is given twice, the second time as 'b'; give it once"):
        read_parameters(route("search"), twice)
    values = read_parameters(route("search"), twice[1:])
    assert values.count("limit") == 10
    assert values.flag("explain")
