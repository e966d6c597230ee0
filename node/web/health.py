"""What a supervisor asks: is the process there, does it serve, how is it doing."""

from aiohttp import web

from node.service import Service
from node.statusview import view_of
from node.web.metrics import Metrics


class Health:
    """The handlers, named as in the table of routes."""

    def __init__(self, service: Service, metrics: Metrics) -> None:
        self._service = service
        self._metrics = metrics

    async def healthz(self, request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(self, request: web.Request) -> web.Response:
        is_ready = view_of(await self._service.status()).ready > 0
        return web.Response(text="ready\n" if is_ready else "not ready\n", status=200 if is_ready else 503)

    async def metrics(self, request: web.Request) -> web.Response:
        body = self._metrics.text(view_of(await self._service.status()))
        return web.Response(body=body, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})
