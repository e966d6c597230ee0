"""Defines the handler of a route: a coroutine that takes a request. It bears the name of its route."""

from collections.abc import Awaitable, Callable

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Handlers = dict[str, Handler]  # by the name of the route


def named(*methods: Handler) -> Handlers:
    """Return handlers by the names of their routes."""
    return {method.__name__: method for method in methods}
