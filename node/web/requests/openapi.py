"""Writes the OpenAPI 3.1 document of the table of routes.

Pure: values only.
"""

from typing import Any

from crawl import SCOPE_KINDS
from index import FACETS, Reason
from node.web.requests.route_table import ROUTES, SCHEMAS
from node.web.requests.routes import FORM, JSON, HttpRoute, Parameter

Json = dict[str, Any]


def openapi(version: str) -> Json:
    """Return the OpenAPI 3.1 document of all routes. `version`: this node's."""
    paths: dict[str, Json] = {}
    for entry in ROUTES:
        paths.setdefault(entry.path, {})[entry.method.lower()] = _operation(entry)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dse-node",
            "version": version,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": _SCHEMAS | SCHEMAS,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "admin.token of the node"}
            },
        },
    }


def _operation(entry: HttpRoute) -> Json:
    answer = {"schema": _reference(entry.schema)} if entry.schema else {"schema": {"type": "string"}}
    operation: Json = {
        "operationId": entry.name,
        "summary": entry.about,
        "responses": {
            "200": {"description": "Done", "content": {entry.gives: answer}},
            "default": {
                "description": "What was wrong",
                "content": {"application/problem+json": {"schema": _reference("Problem")}},
            },
        },
    }
    if entry.parameters:
        operation["parameters"] = [_parameter(parameter, entry.path) for parameter in entry.parameters]
    if entry.takes:
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": _reference(entry.takes)}}}
    if entry.form:
        fields = {field.name: _parameter(field, entry.path)["schema"] for field in entry.form}
        needed = [field.name for field in entry.form if field.default is None]
        form = {"schema": {"type": "object", "properties": fields, "required": needed}}
        operation["requestBody"] = {"required": True, "content": {FORM: form}}
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
    if parameter.default not in (None, "", ()):
        schema["default"] = parameter.default
    return {
        "name": parameter.name,
        "in": "path" if f"{{{parameter.name}}}" in path else "query",
        "description": parameter.about,
        "required": parameter.default is None,
        "schema": schema,
    }


def _reference(schema: str) -> Json:
    return {"$ref": f"#/components/schemas/{schema}"}


def _object(required: str = "", **properties: Json) -> Json:
    return {"type": "object", "required": required.split(), "properties": properties, "additionalProperties": True}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


_TEXT, _COUNT, _NUMBER, _FLAG = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}
_ANY = {"type": "object", "additionalProperties": True}

_RESULT = _object(
    "url title snippet score id",
    url=_TEXT,
    title=_TEXT,
    heading=_TEXT,
    snippet=_TEXT,
    score=_NUMBER,
    language=_TEXT,
    fetched_at=_NUMBER,
    date=_NUMBER,
    id=_TEXT,
    replicas=_COUNT,
    site_more=_COUNT,
    origin=_TEXT,
    similar=_list(_TEXT),
    similar_count=_COUNT,
)
_DOUBT = _object(
    "reason slots peers peer_count",
    reason={"type": "string", "enum": [reason.value for reason in Reason]},
    slots=_COUNT,
    peers=_list(_TEXT),
    peer_count=_COUNT,
)
_REFUSED = _object("url reason", url=_TEXT, reason=_TEXT)
_SCRUB = _object(
    begun_at=_COUNT,
    share=_NUMBER,
    ended_at=_COUNT,
    found=_COUNT,
    found_before=_COUNT,
    lost=_COUNT,
    healed=_COUNT,
    read_records=_COUNT,
    asked_at=_COUNT,
    read_at=_COUNT,
    damaged=_COUNT,
    came_back=_COUNT,
    open=_COUNT,
)
_SCHEMAS: Json = {
    "Object": _ANY,
    "Problem": _object("status title detail", status=_COUNT, title=_TEXT, detail=_TEXT, position=_COUNT),
    "Search": _object(
        "query took_ms exact whole partial why coverage total total_is results",
        query=_TEXT,
        took_ms=_NUMBER,
        age_s=_NUMBER,
        exact=_FLAG,
        whole=_FLAG,
        partial=_FLAG,
        why=_list(_DOUBT),
        coverage=_object("slots answered", slots=_COUNT, answered=_COUNT, peers_asked=_COUNT, peers_answered=_COUNT),
        total=_COUNT,
        total_is={"type": "string", "enum": ["exact", "about", "at_least"]},
        readings=_list(_object("read_as piece", read_as=_TEXT, piece=_TEXT)),
        results=_list(_RESULT),
        suggestions=_list(_TEXT),
        corrections=_list(_TEXT),
        facets=_object("", **dict.fromkeys(FACETS, _list(_object("name count", name=_TEXT, count=_COUNT)))),
        facets_cut=_list({"type": "string", "enum": list(FACETS)}),
        next_cursor={"type": ["string", "null"]},
    ),
    "Suggestions": _object("query suggestions", query=_TEXT, suggestions=_list(_TEXT)),
    "Listed": _list({}),
    "Status": _object(
        "node_id version peers slots documents settled crawl strategy",
        node_id=_TEXT,
        version=_TEXT,
        role=_TEXT,
        reachable=_ANY,
        clients=_object(waiting=_COUNT, carried=_COUNT, polled=_COUNT, carried_here=_COUNT),
        peers=_object(live=_COUNT, ipv4=_COUNT, ipv6=_COUNT, servers=_COUNT, silent_servers=_COUNT),
        refused_packets={"type": "object", "additionalProperties": _COUNT},
        refused_heartbeats=_list(_object(peer=_TEXT, reason=_TEXT)),
        refused_here=_TEXT,
        refused_records=_object(count=_COUNT, authors=_ANY, peers=_ANY, hosts=_COUNT),
        refuted_peers=_list(
            _object(
                peer=_TEXT, at=_NUMBER, topic=_TEXT, reason=_TEXT, against=_list(_TEXT), behind=_FLAG, avoided=_FLAG
            )
        ),
        possession=_object(
            challenged=_COUNT,
            answered=_COUNT,
            failed=_COUNT,
            doubted=_list(_TEXT),
            accused_by=_list(_object(peer=_TEXT, at=_NUMBER, slots=_COUNT, records=_COUNT)),
        ),
        second_looks=_object(
            fetches=_COUNT,
            compared=_COUNT,
            unlike=_COUNT,
            confirmed=_COUNT,
            without_turn=_COUNT,
            evidence={"type": "object", "additionalProperties": _COUNT},
            contradicted=_list(_object(node_id=_TEXT, domains=_list(_TEXT), until=_NUMBER, votes=_FLAG)),
        ),
        slots=_object(owned=_COUNT, ready=_COUNT, leased=_COUNT),
        documents=_COUNT,
        search=_object(
            analyzer=_COUNT,
            ranking=_COUNT,
            beside=_list(_object(analyzer=_COUNT, share=_NUMBER, answers=_FLAG)),
        ),
        clock=_object(behind_s=_NUMBER, peers=_COUNT),
        open_files=_object(limit={"type": ["integer", "null"]}, open={"type": ["integer", "null"]}),
        up_s=_COUNT,
        queries=_object(asked=_COUNT, p50_ms={"type": ["number", "null"]}, p95_ms={"type": ["number", "null"]}),
        settled=_FLAG,
        alike=_FLAG,
        under_replicated=_COUNT,
        copies=_object(
            least=_COUNT,
            mean=_NUMBER,
            slots={"type": "object", "additionalProperties": _COUNT},
            oldest_s=_COUNT,
            oldest_slot={"type": ["integer", "null"]},
            kept=_COUNT,
            copying=_COUNT,
        ),
        crawl=_object(
            state=_TEXT,
            reason=_TEXT,
            frontier=_COUNT,
            due=_COUNT,
            unheld=_COUNT,
            fetched=_COUNT,
            per_s=_NUMBER,
            still_s=_COUNT,
            unproved_aliases=_COUNT,
        ),
        strategy=_object(version=_COUNT, expires_at=_NUMBER, upgrade=_list(_TEXT), warnings=_list(_TEXT)),
        needs=_list(_object(topic=_TEXT, state={"enum": ["fine", "near", "trouble"]}, text=_TEXT)),
        silent=_list(
            _object(
                "node_id endpoint operator silent_s stable farewell",
                node_id=_TEXT,
                endpoint={"type": ["object", "null"]},
                operator=_TEXT,
                silent_s=_COUNT,
                stable=_FLAG,
                farewell=_FLAG,
            )
        ),
        leaving={"type": ["object", "null"]},
        disk=_object(used=_COUNT, quota=_COUNT, records=_COUNT, refuses=_TEXT),
        scrub=_SCRUB,
        faults=_list(_object(site=_TEXT, cause=_TEXT, since=_NUMBER, what_stops=_TEXT, remedy=_TEXT)),
    ),
    "Peers": _object("peers", peers=_list(_ANY)),
    "Documents": _object("documents", documents=_list({"type": ["object", "null"]})),
    "DocumentsRead": _object(
        "documents next_cursor unread left_out",
        documents=_list(
            _object(
                "url captured_at status headers",
                url=_TEXT,
                captured_at=_NUMBER,
                status=_COUNT,
                headers=_list(_list(_TEXT)),
                content=_TEXT,
                content_digest=_TEXT,
                media_type=_TEXT,
                charset=_TEXT,
                language=_TEXT,
                title=_TEXT,
                text=_TEXT,
                expires_at=_NUMBER,
                author=_TEXT,
                origin=_TEXT,
                links=_list(_TEXT),
            )
        ),
        next_cursor={"type": ["string", "null"]},
        unread=_list(_object("slot reason count", slot=_COUNT, reason=_TEXT, count=_COUNT)),
        left_out={"type": "object", "additionalProperties": _COUNT},
    ),
    "CrawlOrder": _object(
        urls=_list(_TEXT),
        sitemaps=_list(_TEXT),
        depth={"type": "integer", "minimum": 0, "maximum": 100},
        scope={"type": "string", "enum": list(SCOPE_KINDS), "default": "whole"},
        dry_run=_FLAG,
    ),
    "Crawled": _object(
        "accepted refused",
        accepted=_COUNT,
        refused=_list(_object("url reason", url=_TEXT, reason=_TEXT)),
        seeds=_list(_object("url scope sitemap", url=_TEXT, scope=_TEXT, sitemap=_FLAG, known=_TEXT)),
        behind=_COUNT,
        following=_FLAG,
        waits=_TEXT,
    ),
    "ImportOrder": _object("file pages", file=_TEXT, pages=_list(_ANY), dry_run=_FLAG, crawl=_FLAG),
    "Imported": _object(
        "pages",
        pages=_list(
            _object(
                "state reason",
                state={"type": "string", "enum": ["taken", "known", "older", "refused", "later"]},
                reason=_TEXT,
            )
        ),
    ),
    "ProgressOf": _object("urls", urls=_list(_object("url", url=_TEXT, depth=_COUNT, scope=_TEXT))),
    "Progress": _object(
        "urls", urls=_list(_object("url state reason found", url=_TEXT, state=_TEXT, reason=_TEXT, found=_list(_ANY)))
    ),
    "Explained": _object(
        "url canonical answer why",
        url=_TEXT,
        canonical={"type": ["string", "null"]},
        answer={"type": "string", "enum": ["yes", "now", "later", "no", "unknown"]},
        why=_TEXT,
        changed=_list(_TEXT),
        placement=_ANY,
        rule=_ANY,
        owners=_list(_ANY),
        holder={"type": ["object", "null"]},
        known={"type": ["object", "null"]},
        crawler={"type": ["object", "null"]},
    ),
    "Accused": _object(
        "domains_needed authors",
        domains_needed=_COUNT,
        authors=_list(
            _object(
                node_id=_TEXT,
                domains=_list(_TEXT),
                counts=_FLAG,
                no_votes_until=_NUMBER,
                again={"type": "object", "additionalProperties": _TEXT},
                confirmed=_FLAG,
                pieces=_list(
                    _object(site=_TEXT, document=_TEXT, written_at=_NUMBER, looks=_list(_NUMBER), finder=_TEXT)
                ),
            )
        ),
    ),
    "Scrub": _SCRUB,
    "Scrubbing": _object(),
    "Fetching": _object(fetch=_FLAG),
    "LoginLink": _object("path expires_in_s", path=_TEXT, expires_in_s=_NUMBER),
    "Pause": _object("paused", paused=_FLAG, for_s=_NUMBER, reason=_TEXT),
    "Leave": _object(at_once=_FLAG, sure=_FLAG),
    "Departure": _object(
        "state slots documents at_risk silent",
        state={"type": "string", "enum": ["here", "leaving", "gone"]},
        slots=_COUNT,
        documents=_COUNT,
        at_risk=_COUNT,
        silent=_list(_TEXT),
    ),
}
