"""Answers the part of the HTTP API that steers one node: jobs, log, settings, pause, leaving. It is for its owner."""

from aiohttp import web

from node.api.operation import BeginOrder, LeaveOrder, NoFields, Paused, PauseOrder
from node.api.owner import (
    CancelOrder,
    JobTable,
    LogEntry,
    LogLines,
    SettingEntry,
    SettingOrder,
    SettingTable,
    SettingTaken,
)
from node.service.service import Service
from node.web.requests.api import json_response, read_body
from node.web.requests.problems import BadParameter


class OwnerApi:
    """Holds these handlers, named as in the table of routes."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def jobs(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/jobs."""
        return json_response(JobTable([row.entry() for row in await self._service.owner.jobs()]))

    async def cancel_job(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/jobs/cancel."""
        order = await read_body(request, CancelOrder)
        row = await self._service.owner.cancel(order.number)
        if row is None:
            raise BadParameter("number", f"{order.number} is no crawl job of this node")
        return json_response(row.entry())

    async def log_lines(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/log."""
        lines = reversed(self._service.owner.log())
        return json_response(LogLines([LogEntry(each.at, each.level, each.source, each.text) for each in lines]))

    async def settings(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/settings."""
        rows = self._service.owner.settings()
        return json_response(SettingTable([SettingEntry(row.key, row.value, row.origin, row.waiting) for row in rows]))

    async def change_setting(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/settings."""
        order = await read_body(request, SettingOrder)
        return json_response(SettingTaken(await self._service.owner.set(order.key, order.value)))

    async def pause(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/pause."""
        order = await read_body(request, PauseOrder)
        reason = self._service.pause(order.paused, order.for_s)
        return json_response(Paused(paused=order.paused, reason=reason))

    async def begin_alone(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/begin."""
        order = await read_body(request, BeginOrder)
        return json_response(await self._service.begin_alone(is_sure=order.sure))

    async def leave(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/leave."""
        order = await read_body(request, LeaveOrder)
        return json_response(self._service.leave(at_once=order.at_once, is_sure=order.sure))

    async def scrub(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/scrub."""
        await read_body(request, NoFields)
        return json_response(self._service.scrub())
