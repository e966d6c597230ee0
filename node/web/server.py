"""Runs the web listener: binds its address, finds a handler for each route of the table, serves until cancelled."""

import asyncio
import logging
import secrets
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

from aiohttp import web

from crawl import CrawlConfig
from dht import (
    STRICT,
    WEB,
    BoundedLog,
    CrawlerKey,
    Identity,
    Listener,
    LocalFaults,
    PortMissing,
    Supervisor,
    Visitor,
    library_log,
    system_clock,
)
from node.config.data_dir import DataDir
from node.config.settings import NodeConfig
from node.owner.passwords import PasswordFile
from node.service.service import Service
from node.web.guard import Guard
from node.web.key_directory import KeyDirectory
from node.web.monitoring import Health, Metrics
from node.web.owner.login import Logins, Owner, login_path
from node.web.owner.owner_pages import OwnerPages
from node.web.owner.strategy_pages import OwnerStrategy
from node.web.owner.welcome_page import OwnerWelcome
from node.web.rendering.pages import CrawlerIdentity, Pages
from node.web.requests.api import Api
from node.web.requests.caller_limit import caller_of
from node.web.requests.owner_api import OwnerApi
from node.web.requests.proxied_caller import ProxiedCallers
from node.web.requests.route_table import ROUTES, Handler, added_handlers, handlers_of
from node.web.requests.routes import MAX_LINE_BYTES
from node.web.search.ask_removal import AskRemoval
from node.web.search.check_removal import CheckRemoval
from node.web.search.preferences import Preferences, RulesFile
from node.web.search.running_searches import RunningSearches
from node.web.search.search_page import SearchPage
from node.web.search.suggest_site import SuggestSite
from node.web.stored.documents import Documents
from node.web.stored.memento import Memento
from node.web.stored.snapshots import Snapshots

log = logging.getLogger(__name__)
logging.getLogger("node.web.guard").addFilter(BoundedLog())  # it logs what strangers ask
requests_log = library_log("node.web.requests")

MAX_BODY_BYTES = 1 << 20  # seeds and strategy documents are far smaller
READ_LINE_BYTES = 4 * MAX_LINE_BYTES  # a line that is too long is read so far, to answer it with a page
SHUTDOWN_S = 2.0  # how long answers under way may take when the node stops
BACKLOG = 128
CODE_BYTES = 32  # of a link that logs in, of a session, of a search: nobody guesses one in a year of asking


class Reader(web.RequestHandler):
    """Reads the requests of one connection, and has the guard answer one that is not HTTP."""

    __slots__ = ("_answer",)

    def __init__(self, manager: web.Server, answer: Callable[[str], web.Response]) -> None:
        super().__init__(
            manager,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # none is kept
            logger=requests_log,
            keepalive_timeout=30.0,
            max_line_size=READ_LINE_BYTES,
        )
        self._answer = answer

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the answer to a request that could not be read, and close the connection after it."""
        if status != 400:
            return super().handle_error(request, status, exc, message)
        response = self._answer(message or "")
        response.force_close()
        return response


class WebServer:
    """Serves a node to people and programs. Build it, then `run()`; `listening` is set once requests are taken."""

    def __init__(
        self,
        service: Service,
        config: NodeConfig,
        crawl: CrawlConfig,
        token: str,
        version: str,
        identity: Identity,
        network: str = "",
        data: DataDir | None = None,
    ) -> None:
        """`network`: the name of this node's network, as site owners read it. `data`: where a publisher's key and
        passwords may lie, and whether the owner has to be asked the first questions; None: in this folder."""
        data = data or DataDir(Path())
        key = CrawlerKey(identity) if crawl.sign else None
        crawler = CrawlerIdentity(crawl.agent, crawl.user_agent(version), network, crawl.info_url, key)
        self._config = config
        self._door = Listener(WEB, system_clock)
        self._proxied = ProxiedCallers(config.web_trusted_proxies, config.web_proxy_header)
        self._port = config.web_port
        passwords = PasswordFile(data.passwords)
        metrics, pages = Metrics(), Pages(service, crawler, lambda: bool(passwords.hashes()))
        preferences = Preferences(pages, RulesFile(config.site_rules))
        new_code = partial(secrets.token_urlsafe, CODE_BYTES)
        self._logins = logins = Logins(new_code, lambda: passwords.hashes().values())
        owner_pages = OwnerPages(service, pages, data.welcome)
        self._searches = RunningSearches(service, new_code)
        self._guard = Guard(config, token, metrics, pages.problem, logins, identity.node_id.hex())
        self._handlers = handlers_of(
            Api(service, version),
            OwnerApi(service),
            pages,
            SearchPage(service, pages, preferences, self._searches),
            preferences,
            SuggestSite(service, pages),
            CheckRemoval(service, pages),
            AskRemoval(service, pages),
            Snapshots(service, pages),
            Documents(service),
            Memento(service),
            Health(service, metrics),
            Owner(logins, pages, passwords),
            owner_pages,
            OwnerStrategy(service, owner_pages, logins, data.keys),
            OwnerWelcome(service, owner_pages, data.welcome, data.joins),
            KeyDirectory(service, key),
        )
        self._handlers |= added_handlers(service, config)
        self.listening = asyncio.Event()

    @property
    def url(self) -> str:
        """Return where the listener is reached; the port is the real one once `listening` is set."""
        host = self._config.web_address
        return f"http://{f'[{host}]' if ':' in host else host}:{self._port}"

    def new_login_path(self) -> str:
        """Return the path of a link that logs the owner in once."""
        return login_path(self._logins)

    async def run(self, faults: LocalFaults | None = None, supervisor: Supervisor = STRICT) -> None:
        """Serve until cancelled; raises PortMissing at once where the address cannot be had. `faults`: who is told that
        new connections wait for handles. `supervisor`: restarts what fails."""
        faults = faults or LocalFaults(system_clock)
        runner = web.AppRunner(
            self._application(),
            handler_cancellation=True,
            shutdown_timeout=SHUTDOWN_S,
        )
        listener = _bind(self._config)
        self._port = listener.getsockname()[1]
        async with self._searches.open(supervisor):
            try:
                await runner.setup()
                assert runner.server is not None
                runner.server.request_handler = partial(self._guard.headers, handler=runner.server.request_handler)
                log.info("web listener ready url=%s", self.url)
                self.listening.set()
                async with asyncio.TaskGroup() as tasks:
                    greet = partial(self._greet, runner)
                    supervisor.start(tasks, "web-accept", partial(self._door.accept, listener, faults, greet))
                    supervisor.start(tasks, "web-sweep", self._door.sweep)
            finally:
                self.listening.clear()
                listener.close()
                await runner.cleanup()

    async def _greet(self, runner: web.AppRunner, sock: socket.socket, host: str) -> None:
        """Serve a new connection, where there is a place for it."""
        is_own = caller_of(host) is None or self._proxied.is_proxy(host)
        visitor = Visitor(host, system_clock().steady, sock.close, lambda: False, is_member=is_own, is_own=is_own)
        if not self._door.doorway.enter(visitor):
            sock.close()
            return
        try:
            sock.setblocking(False)
            assert runner.server is not None
            await self._door.hand_over(sock, visitor, Reader(runner.server, self._guard.unreadable))
        except OSError as error:  # the caller is gone already
            log.debug("connection given up from=%s reason=%s", host, error)
            self._door.doorway.left(visitor)
            sock.close()

    @web.middleware
    async def _note(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Note that a caller has sent a whole header."""
        if (visitor := self._door.visitor_of(request.protocol)) is not None:
            visitor.has_proved = True
        return await handler(request)

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[self._note])
        for route in ROUTES:
            handler = self._guard.wrap(route, self._handlers[route.name])
            path = route.path.replace("{url}", "{url:.+}")
            for method in ("GET", "HEAD") if route.method == "GET" else (route.method,):
                application.router.add_route(method, path, handler)
            if route.is_public:
                application.router.add_route("OPTIONS", path, self._guard.preflight)
        return application


def _bind(config: NodeConfig) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.web_address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((config.web_address, config.web_port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        at = f"TCP {config.web_address} port {config.web_port}"
        raise PortMissing.of(at, error, "node.web_port", "node.web_address") from None
    listener.setblocking(False)
    return listener
