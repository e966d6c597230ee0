"""Writes the OpenAPI 3.1 document of the table of routes.

Pure: values only.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from node.api.body import Json
from node.api.strategy_schema import describe
from node.web.requests.problems import ProblemDetails
from node.web.requests.route_table import ROUTES
from node.web.requests.routes import JSON, HttpRoute, Parameter


def openapi(version: str) -> Json:
    """Return the OpenAPI 3.1 document of all routes. `version`: this node's."""
    bodies = list(dict.fromkeys(_bodies(ROUTES)))
    written, components = msgspec.json.schema_components(bodies, ref_template="#/components/schemas/{name}")
    describe(components)
    schemas = dict(zip(bodies, written, strict=True))
    paths: dict[str, Json] = {}
    for entry in ROUTES:
        paths.setdefault(entry.path, {})[entry.method.lower()] = _operation(entry, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dse-node",
            "version": version,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "admin.token of the node"}
            },
        },
    }


def _bodies(routes: Iterable[HttpRoute]) -> Iterator[Any]:
    """Yield the types of all bodies, some of them several times."""
    yield ProblemDetails
    for entry in routes:
        yield entry.schema
        if entry.takes is not None:
            yield entry.takes


def _operation(entry: HttpRoute, schemas: dict[Any, Json]) -> Json:
    operation: Json = {
        "operationId": entry.name,
        "summary": entry.about,
        "responses": {
            "200": {"description": "Done", "content": {entry.gives: {"schema": schemas[entry.schema]}}},
            "default": {
                "description": "What was wrong",
                "content": {"application/problem+json": {"schema": schemas[ProblemDetails]}},
            },
        },
    }
    if entry.parameters:
        operation["parameters"] = [_parameter(parameter, entry.path) for parameter in entry.parameters]
    if entry.takes is not None:
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schemas[entry.takes]}}}
    if entry.form:
        fields = {field.name: _parameter(field, entry.path)["schema"] for field in entry.form}
        needed = [field.name for field in entry.form if field.default is None]
        form = {"schema": {"type": "object", "properties": fields, "required": needed}}
        operation["requestBody"] = {"required": True, "content": {entry.form_type: form}}
    if entry.needs_token:
        operation["security"] = [{"token": []}]
    return operation


def _parameter(parameter: Parameter, path: str) -> Json:
    schema: Json
    match parameter.kind:
        case "count":
            schema = {"type": "integer", "minimum": parameter.least, "maximum": parameter.most}
        case "flag":
            schema = {"type": "boolean"}
        case "texts":
            schema = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": parameter.most}
        case _:
            schema = {"type": "string", "maxLength": parameter.most}
    if parameter.choices:
        schema["enum"] = list(dict.fromkeys([str(parameter.default), *parameter.choices]))
    if parameter.default not in (None, "", ()):
        schema["default"] = parameter.default
    return {
        "name": parameter.name,
        "in": "path" if f"{{{parameter.name}}}" in path else "query",
        "description": parameter.about,
        "required": parameter.default is None,
        "schema": schema,
    }
