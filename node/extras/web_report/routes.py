"""Lists the routes by which a node's owner has the web report made, and reads it. `node/extras/__init__.py` names this
module."""

from node.config.settings import NodeConfig
from node.service.service import Service
from node.web.requests.route_table import Handlers, handlers_of
from node.web.requests.routes import HTML, HttpRoute, Parameter

_SITES = Parameter("sites", "sites of which the report says how well they are covered, one in each line", most=1 << 14)
_FILE = Parameter("file", "web.html, or one of the files that the page of the node's work names", most=32)
_READ = "The newest web report, or a file of its figures"
_MAKE = "Have the web report made; nothing happens while one is being made"
_PATH = "/owner/report"
ROUTES: tuple[HttpRoute, ...] = (
    HttpRoute("GET", _PATH, "web_report", _READ, HTML, parameters=(_FILE,), needs_token=True),
    HttpRoute("POST", _PATH, "make_web_report", _MAKE, HTML, needs_token=True, form=(_SITES,)),
)


def handlers(service: Service, config: NodeConfig) -> Handlers:
    """Make what answers the routes."""
    from node.extras.web_report.report_pages import ReportPages

    return handlers_of(ReportPages(service))
