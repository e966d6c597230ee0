"""Answers a node's owner: has the web report made, and hands it out."""

from aiohttp import web

from node.extras.web_report.report_maker import FILES, PAGE, TYPES
from node.owner.desk import ReportMaker
from node.service.service import Service
from node.views.safe_text import plain
from node.web.owner.owner_pages import lead_to
from node.web.requests.api import parameters
from node.web.requests.forms import read_form
from node.web.requests.problems import BadParameter

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"  # no script runs
FLAW_CHARS = 200


class ReportPages:
    """Holds the handlers, named as in the table of routes. Without the extra's libraries they answer 404."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def web_report(self, request: web.Request) -> web.StreamResponse:
        """Answer with the newest report, or another file of it."""
        file = parameters(request, "web_report").text("file") or PAGE
        if file not in (PAGE, *FILES):
            raise BadParameter("file", f"is none of {', '.join((PAGE, *FILES))}")
        path = self._maker().path_of(file)
        if path is None:
            raise web.HTTPNotFound
        headers = {"Content-Type": TYPES[path.suffix], "Content-Security-Policy": POLICY}
        if file != PAGE:
            headers["Content-Disposition"] = f'attachment; filename="{file}"'
        return web.FileResponse(path, headers=headers)

    async def make_web_report(self, request: web.Request) -> web.Response:
        """Have a report made, and lead back to the page that shows how far it is."""
        sites, flaw = (await read_form(request, "make_web_report")).text("sites"), ""
        maker = self._maker()
        from node.extras.web_report.site_list import read_list  # which needs the extra's libraries

        try:
            read_list(sites)
            maker.make(sites)
        except ValueError as error:
            flaw = plain(error, FLAW_CHARS)
        return lead_to(request, "owner_work", "report", report_flaw=flaw)

    def _maker(self) -> ReportMaker:
        if self._service.owner.report is None:
            raise web.HTTPNotFound
        return self._service.owner.report
