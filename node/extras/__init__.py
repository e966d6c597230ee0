"""Holds the extras of a node, a folder for each. Nothing in the core imports them.

An extra uses the node's HTTP API, its handlers' interface, or (simulation and demo) `node.app`. Read one folder by
itself. The core finds what extras add by the names below, which it imports at use.
"""

from importlib import import_module
from typing import Any

ROUTE_MODULES = (  # each has ROUTES and handlers(service, config)
    "node.extras.clients.routes",
    "node.extras.archive.routes",
    "node.extras.web_report.routes",
)
RESULT_FORMS = {  # by the `format` of /search: answers a request with results as something else than a page
    "json": "node.extras.clients.result_forms:searxng_form",
    "rss": "node.extras.clients.result_forms:feed_form",
    "atom": "node.extras.clients.result_forms:feed_form",
}
SEED_READERS = {  # by the end of a file's name: yields the addresses in it
    ".warc": "node.extras.archive.warc_records:response_targets",
    ".warc.gz": "node.extras.archive.warc_records:response_targets",
}
ARCHIVE_WRITER = "node.extras.archive.warc_writer:write_warc"  # keeps the pages of a node that joins another network
VERB_MODULES = (  # each has add_verbs(verbs), in the order of the help
    "node.extras.demo.verbs",
    "node.extras.simulation.verbs",
    "node.extras.archive.verbs",
    "node.extras.web_report.verbs",
    "node.extras.clients.verbs",
)
WEB_REPORT = "node.extras.web_report.report_maker:report_maker"  # makes what the button on the owner's page asks for
QUERY_TRACER = "node.extras.traces.query_tracer:QueryTracer"  # makes spans of queries
TRACE_EXPORT = "node.extras.traces.trace_export:TraceExport"


def added(name: str) -> Any:
    """Import what a table above names as `module:attribute`."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
