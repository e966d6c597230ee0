"""Defines the handler of a route: a public coroutine method that takes a request and bears the name of its route."""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction

from aiohttp import web

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
