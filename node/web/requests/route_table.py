"""All routes: those of the core, then those that extras add, in the order in which the OpenAPI document lists them.

An extra is imported by its name in `node/extras/__init__.py`, so the core knows none of them.
"""

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from inspect import iscoroutinefunction

from aiohttp import web

from node.config.settings import NodeConfig
from node.extras import ROUTE_MODULES
from node.service.service import Service
from node.web.requests.owner_routes import OWNER_ROUTES
from node.web.requests.routes import CORE_ROUTES, HttpRoute
from node.web.requests.strategy_routes import STRATEGY_ROUTES

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Handlers = dict[str, Handler]  # by the name of the route


def handlers_of(*holders: object) -> Handlers:
    """Return the handlers that objects hold."""
    return {
        name: getattr(holder, name)
        for holder in holders
        for name, method in vars(type(holder)).items()
        if iscoroutinefunction(method) and not name.startswith("_")
    }


_ADDED = tuple(import_module(name) for name in ROUTE_MODULES)
ROUTES: tuple[HttpRoute, ...] = (
    *CORE_ROUTES,
    *OWNER_ROUTES,
    *STRATEGY_ROUTES,
    *(route for module in _ADDED for route in module.ROUTES),
)


@cache
def route(name: str) -> HttpRoute:
    """Return the route of a handler's name; raises StopIteration where there is none."""
    return next(entry for entry in ROUTES if entry.name == name)


def added_handlers(service: Service, config: NodeConfig) -> Handlers:
    """Make what answers the routes of the extras."""
    made: list[tuple[str, Handler]] = [each for module in _ADDED for each in module.handlers(service, config).items()]
    return dict(made)
