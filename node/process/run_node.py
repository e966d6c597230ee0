"""Runs a node as a process: sockets, files and parser processes around one `NodeCore`, until it is told to stop.

Everything is built by hand, in order, in `_open_core`; `run_node` holds the loop and the signals.
"""

import asyncio
import faulthandler
import logging
import os
import resource
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import SystemRandom

import uvloop

from bootstrap import first_contacts, load_network
from crawl import CrawlConfig, RequestSigner, TxtRecords, open_fetcher, open_parsers
from dht import (
    CrawlerKey,
    Identity,
    LocalFaults,
    Network,
    OverlayService,
    OverlaySettings,
    RemoteError,
    Supervisor,
    library_log,
    open_overlay,
    system_clock,
    when_told_to_stop,
)
from index import Tracer, untraced
from node.api.documents import BroughtPage
from node.app.clean_stop import take_leave
from node.app.departure import Departure
from node.app.disk_meter import bytes_below
from node.app.environment import HostMachine, NodeEnvironment, NodeFiles, OwnMembership, WebAccess
from node.app.event_log import COMPARE_EVERY_S, EventLog
from node.app.node_core import NodeCore
from node.backup.scheduled_backups import ScheduledBackups
from node.captures.capture import Capture
from node.cli.http_client import base_url
from node.config.data_dir import FIRST_DEPTH, DataDir
from node.config.logging_setup import set_log_level
from node.config.settings import Config, NodeConfig, with_contact
from node.crawling.machine_load import read_machine
from node.errors import NoRoom, NotJoined
from node.extras import QUERY_TRACER, TRACE_EXPORT, WEB_REPORT, added
from node.jobs.moving_in import MovingIn
from node.joining.rejoin import Rejoiner
from node.owner.figure_history import FigureHistory
from node.owner.hook import OwnerHook
from node.owner.log_ring import LogRing
from node.owner.setting_desk import SettingDesk
from node.owner.watch import OwnerWatch
from node.process.listening import listening
from node.process.memory_upkeep import keep_memory_small, shape_heap, spare_collector
from node.process.run_end import CleanEnd, give_way_to_twin, reopening
from node.process.service_manager import ServiceManager
from node.service.service import Service
from node.version import VERSION
from node.views.silence import SilenceWaits
from node.web.server import WebServer
from store import RecordStore, StoreConfig

log = logging.getLogger(__name__)

OPEN_FILES = 65_536  # peers, sites and segments together; many systems give a process 1,024 unless it asks for more


def run_node(config: Config, faults: LocalFaults) -> int:
    """Run until SIGINT or SIGTERM; return 0 after a clean stop. Raises LocalError and InputError with a remedy each."""
    raise_open_files()
    if not faulthandler.is_enabled():  # a watchdog that ends this process by SIGABRT leaves in the log where it stood
        faulthandler.enable()
    shape_heap()
    library_log("asyncio")
    manager = ServiceManager.of(os.environ)
    data = DataDir(Path(config.node.data_dir))
    network = load_network(Path(config.node.network))
    config = with_contact(config, network.info_url)
    with data.lock(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_until_signalled(SettingDesk(data.config, config), data, network, faults, manager))
    return 0


def raise_open_files() -> None:
    """Raise the soft limit of open files as far as the hard one lets us, up to OPEN_FILES."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError) as error:  # some systems refuse less than what they say
        log.warning("open files stay at %d reason=%s; raise the limit with ulimit -n", soft, error)


async def _until_signalled(
    settings: SettingDesk, data: DataDir, network: Network, faults: LocalFaults, manager: ServiceManager
) -> None:
    task = asyncio.current_task()
    assert task is not None
    ending = CleanEnd(task, manager)
    when_told_to_stop(ending.begin)
    try:
        await reopening(lambda: _serve(settings, data, network, faults, manager, ending))
    except asyncio.CancelledError:
        if not ending.is_begun:
            raise
        log.info("stopped")


async def _serve(
    settings: SettingDesk,
    data: DataDir,
    network: Network,
    faults: LocalFaults,
    manager: ServiceManager,
    ending: CleanEnd,
) -> None:
    config, own, supervisor = settings.config, Identity.load(data.identity), Supervisor(faults)
    first_site = data.read_first_site()
    key = CrawlerKey(own) if config.crawl.sign else None
    tracer = added(QUERY_TRACER)(config.traces.share, system_clock, SystemRandom()) if config.traces.url else None
    async with AsyncExitStack() as stack:
        opening = _open_core(config, data, network, own, key, tracer or untraced, faults, supervisor)
        core, overlay = await stack.enter_async_context(opening)
        departure = Departure(overlay, core.store, data.leaving)
        settings.obey = partial(_obey, core)
        history = FigureHistory(data.figures)
        stack.callback(history.close)
        answers = Service(core, overlay, network, departure, system_clock, settings, newest_lines(), history)
        web = WebServer(answers, config.node, config.crawl, data.read_token(), VERSION, own, network.name, data)
        answers.owner.stop = ending.begin
        answers.owner.report = added(WEB_REPORT)(data.report, lambda: web.url, settings, system_clock)
        spare_collector()
        log.info("node starts id=%s network=%s", own.node_id.hex(), network.name)
        async with asyncio.TaskGroup() as tasks:
            start = partial(supervisor.start, tasks)
            tasks.create_task(overlay.run(core.crawl.crawler, supervisor), name="overlay")
            tasks.create_task(core.run(supervisor), name="core")
            start("web", lambda: web.run(faults, supervisor))
            start("owner-desk", answers.owner.run)
            start("service-manager", lambda: manager.keep_told(web.listening, f"search page: {web.url}"))
            start("event-log", lambda: _keep_event_log(core, overlay))
            start("trap-file", core.trap_file.run)
            start("memory", lambda: keep_memory_small(core.spare, core.pause, core.written))
            hook = OwnerHook(config.hook, {"node": own.node_id.hex(), "network": network.name})
            look = partial(answers.outlook, SilenceWaits(config.hook.member_s, config.hook.laptop_s))
            watch = OwnerWatch(look, overlay.tell, hook.tell, data.owner_told, system_clock)
            start("owner-watch", watch.run)
            if tracer:
                start("trace-export", added(TRACE_EXPORT)(config.traces.url, tracer, _traced_as(own)).run)
            if answers.owner.report:
                start("web-report", answers.owner.report.run)
            if config.backup.folder:
                start("backups", ScheduledBackups(data, config.backup, system_clock, faults).run)
            start("job-schedule", answers.owner.keep_schedule)
            start("first-site", lambda: _crawl_first_site(answers, data.first_site, first_site))
            start("moving-in", _moving_in(core, config.store, data.root).run)
            start("departure", lambda: _leave(departure, ending.begin))
            start("twin", lambda: give_way_to_twin(overlay))
            start("clean-end", lambda: ending.run(partial(take_leave, core, overlay)))
            await web.listening.wait()
            greet_person(config.node, web.new_login_path() if data.welcome.exists() else "")
            _start_joining(start, config.node, network, overlay)


async def _crawl_first_site(answers: Service, file: Path, site: str) -> None:
    """Crawl the site that `init` noted in a file, as soon as the network takes it, and delete that note."""
    while site:
        try:
            await answers.crawl([site], depth=FIRST_DEPTH, scope="host")
            await asyncio.to_thread(file.unlink)
            return
        except (RemoteError, NotJoined, NoRoom):
            await asyncio.sleep(1.0)


def _moving_in(core: NodeCore, config: StoreConfig, root: Path) -> MovingIn:
    """Return what brings the pages along that a private node kept before it joined this network."""

    async def take(pages: Sequence[Capture], name: str) -> Sequence[BroughtPage]:
        return await core.jobs.page_import.take(pages, name, is_dry=False, crawls=False)

    publish, denied = core.jobs.seed_publisher.publish, core.fetching.rules.denied
    return MovingIn(root, config, take, publish, denied, system_clock)


def greet_person(config: NodeConfig, login_path: str) -> None:
    """Tell a person who started the node at a terminal where its pages are; services have the log. `login_path`: of a
    link that logs the owner in, "" where nobody has to set the node up any more."""
    if login_path:  # not logged: the owner's pages show the log
        print(f"Set this node up within 5 minutes: {base_url(config)}{login_path}", file=sys.stderr)
        print("Later: run `dse-node open`, and follow its link", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(f"\nSearch page:  {base_url(config)}/", file=sys.stderr)
        print("Owner's page: run `dse-node open` in another terminal", file=sys.stderr)
        print("Stop it:      Ctrl-C here, or `dse-node stop`\n", file=sys.stderr)


def _traced_as(own: Identity) -> dict[str, str]:
    return {"service.name": "dse-node", "service.version": VERSION, "service.instance.id": own.node_id.hex()}


def _start_joining(start: Callable[..., object], node: NodeConfig, network: Network, overlay: OverlayService) -> None:
    """Start what finds other nodes, and what lets them find this one."""
    start("rejoiner", Rejoiner(overlay, network, node.seed_url, system_clock).run)
    if node.map_ports and node.mode != "client":
        start("portmap", lambda: _map_ports(node, overlay))
    if node.lan_discovery:
        start("lan", lambda: _discover_lan(node, network, overlay))


async def _map_ports(node: NodeConfig, overlay: OverlayService) -> None:
    """Have the router send what comes to the peers' port to this machine, until cancelled."""
    from node.joining.address_watch import while_addresses_stay  # loaded once the pages are served
    from node.joining.upnp import UpnpMapping, listens_everywhere

    if listens_everywhere(listening(node)):
        mapping = UpnpMapping(listening(node), lambda: overlay.report.own_addresses)
        await while_addresses_stay(mapping.run)


async def _discover_lan(node: NodeConfig, network: Network, overlay: OverlayService) -> None:
    """Find the nodes of the same network in this LAN, until cancelled."""
    from node.joining.address_watch import while_addresses_stay
    from node.joining.mdns import MdnsDiscovery, on_lan

    if places := on_lan(listening(node)):
        is_trusted = not (network.bootstrap or network.seeds or node.seed_url)  # nobody else is named
        join = partial(overlay.join, is_trusted=is_trusted)
        await while_addresses_stay(lambda: MdnsDiscovery(overlay.view.node_id, network.id, places, join).run())


def _obey(core: NodeCore, config: Config) -> None:
    """Take over the settings that may change while a node runs."""
    core.obey(config.crawl, config.store)
    set_log_level(config.node.log_level)


def newest_lines() -> LogRing:
    """Return what keeps the newest lines of this process's log; made at the first call."""
    root = logging.getLogger()
    found = next((handler for handler in root.handlers if isinstance(handler, LogRing)), None)
    if found is None:
        root.addHandler(found := LogRing())
    return found


async def _leave(departure: Departure, stop: Callable[[], None]) -> None:
    """Stop the process when its node has left."""
    await departure.run()
    log.info("node has left its network")
    stop()


async def _keep_event_log(core: NodeCore, overlay: OverlayService) -> None:
    """Log what an operator would miss."""
    events = EventLog(core.state())
    while True:
        await asyncio.sleep(COMPARE_EVERY_S)
        core.faults.present()
        for line in events.lines(
            replace(core.state(), warnings=(*overlay.report.warnings(), *core.index.local.warnings()))
        ):
            log.info("%s", line)


@asynccontextmanager
async def _open_core(
    config: Config,
    data: DataDir,
    network: Network,
    identity: Identity,
    key: CrawlerKey | None,
    tracer: Tracer,
    faults: LocalFaults,
    supervisor: Supervisor,
) -> AsyncIterator[tuple[NodeCore, OverlayService]]:
    """Open everything in order, and close it in the other order."""
    rng = SystemRandom()
    async with AsyncExitStack() as stack:
        writer = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="dht-files"))
        overlay = _open_overlay(config, data, network, identity, writer, faults)
        if is_founder := data.is_founded_by(identity.node_id.hex()):
            overlay.begin_network()
        joins = overlay.join(first_contacts(network, overlay.view.strategy), by_network=True)
        expects_others = bool(joins or network.seeds or config.node.seed_url)
        store = RecordStore.open(data.store, config.store, system_clock, faults)
        if expects_others and not (store.occupied(0) or is_founder):
            overlay.expect_others()
        files = NodeFiles.of(data, partial(bytes_below, data.index, data.seen, data.dht))
        environment = NodeEnvironment(
            OwnMembership(identity, overlay, expects_others),
            HostMachine(store, files, system_clock, rng, faults, read_machine, tracer),
            await _open_web(config.crawl, overlay, key, faults, supervisor, stack),
        )
        core = NodeCore(config.crawl, config.store, config.index, environment)
        stack.push_async_callback(core.close)
        yield core, overlay


def _open_overlay(
    config: Config, data: DataDir, network: Network, identity: Identity, writer: Executor, faults: LocalFaults
) -> OverlayService:
    settings = OverlaySettings(
        listening(config.node),
        data.dht,
        puzzle=data.puzzle,
        invitation=data.invitation,
        vouchers=data.vouchers,
        mode=config.node.mode,
    )
    return open_overlay(identity, network, config.dht, settings, system_clock, SystemRandom(), writer, faults)


async def _open_web(
    config: CrawlConfig,
    overlay: OverlayService,
    key: CrawlerKey | None,
    faults: LocalFaults,
    supervisor: Supervisor,
    stack: AsyncExitStack,
) -> WebAccess:
    signer = RequestSigner(key, config.key_origin(), system_clock, os.urandom) if key else None
    opening = open_fetcher(config, VERSION, system_clock, overlay.families, faults, signer)
    fetcher = await stack.enter_async_context(opening)
    return WebAccess(
        fetcher=fetcher,
        parsers=await stack.enter_async_context(open_parsers(config, supervisor)),
        find_way=fetcher.find_way,
        locate=fetcher.locate,
        late=fetcher.late_s,
        limit=fetcher.bandwidth.set_rate,
        meter=fetcher.meter,
        judge_addresses=fetcher.judge_addresses,
        find_texts=TxtRecords(config, system_clock).find,
        outage=str if config.allow_private else overlay.families.outage,  # an intranet may be on this machine
    )
