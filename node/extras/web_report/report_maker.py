"""Makes the web report of a running node: by its owner's button and every so many days, one at a time.

The verb does the work, in a process of its own with the lowest priority and bounds for memory, files and time. Its
pages come from this very node, over HTTP. The newest report stays until the next one is whole.
"""

import asyncio
import os
import resource
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from dht import Clock
from node.captures.capture import DAY_S
from node.extras.web_report.verb import NEEDED
from node.owner.desk import ReportState
from node.owner.hook import kill_session
from node.owner.setting_desk import SettingDesk
from node.views.safe_text import plain

MOST_S = 6 * 3600.0  # of one try; what was read until then is kept, and the next try of the same day goes on
MOST_LINKS = 5_000_000  # some 550 MB: 188 MB for the first million, 90 MB for each more; the report counts the rest
MOST_MEMORY_BYTES = 4 << 30  # address space of the process, on Linux
MOST_FILE_BYTES = 8 << 30  # of one file: pages that are read take 15 kB each, so some 500,000 pages
LOOK_S = 60.0  # between two looks at whether the next report is due
PAGE, LIST, LINE_CHARS = "web.html", "sites.txt", 200
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
}
FILES = ("web.json", "web.pages.csv", "web.sites.csv", "web.pages.parquet", "web.sites.parquet")


def report_maker(folder: Path, url: Callable[[], str], settings: SettingDesk, clock: Clock) -> "NodeReportMaker | None":
    """Return what makes reports, None where the extra is not installed. `url`: of this node's web listener."""
    is_installed = all(map(find_spec, NEEDED))
    return NodeReportMaker(folder, url, lambda: settings.config.web_report.every_days, clock) if is_installed else None


class NodeReportMaker:
    """Makes reports in a folder, which is made with the first one."""

    def __init__(self, folder: Path, url: Callable[[], str], every_days: Callable[[], float], clock: Clock) -> None:
        self._folder, self._url, self._every_days, self._clock = folder, url, every_days, clock
        self._wanted = asyncio.Event()
        self._progress = self._problem = ""
        self._tried_at = 0.0

    def state(self) -> ReportState:
        """Return how far the report is."""
        files = tuple(name for name in FILES if (self._folder / name).exists())
        list_file, made_at = self._folder / LIST, self._made_at()
        sites = list_file.read_text() if list_file.exists() else ""
        is_wanted = self._wanted.is_set()
        return ReportState(is_wanted, self._progress, self._problem, made_at, self._every_days(), sites, files)

    def make(self, sites: str) -> None:
        """Have a report made, with how well a list of sites is covered; reports to come keep that list. Nothing happens
        where one is being made."""
        if not self._wanted.is_set():
            self._folder.mkdir(mode=0o700, exist_ok=True)
            (self._folder / LIST).write_text(sites)
            self._wanted.set()

    def path_of(self, file: str) -> Path | None:
        """Return where a file of the newest report lies, None where there is none. `file`: PAGE or one of FILES."""
        path = self._folder / file
        return path if path.exists() else None

    async def run(self) -> None:
        """Make reports until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._wanted.wait()
            if self._wanted.is_set() or self.is_due():
                await self.make_now()

    async def make_now(self) -> None:
        """Make a report."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._wanted.set()
        try:
            self._problem = await self._make()
        finally:
            self._progress, self._tried_at = "", self._clock().wall
            self._wanted.clear()

    def is_due(self) -> bool:
        """Tell whether so many days have passed since the newest report, and since the last try."""
        every_s = self._every_days() * DAY_S
        return every_s > 0 and self._clock().wall >= max(self._made_at(), self._tried_at) + every_s

    def _made_at(self) -> float:
        with suppress(OSError):
            return (self._folder / PAGE).stat().st_mtime
        return 0.0

    async def _make(self) -> str:
        """Make a report; return why it failed, or ""."""
        before = self._made_at()
        out, read = self._folder / PAGE, self._folder / f"{PAGE}.pages.part"
        if read.exists() and self._clock().wall > read.stat().st_mtime + DAY_S:
            read.unlink()  # pages have changed since
        words = ("web-report", str(out), "--url", self._url(), "--max-links", str(MOST_LINKS))
        listed = ("--list", str(self._folder / LIST)) if (self._folder / LIST).exists() else ()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "node", *words, *listed),
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
            cwd=self._folder,  # where the node was started, a folder may have the name of a package
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )
        is_done = False
        try:
            _bound(process.pid)
            async with asyncio.timeout(MOST_S):
                await self._follow(process)
                code = await process.wait()
            is_done = True
        except TimeoutError:
            return f"not done within {MOST_S / 3600:g} hours"
        finally:
            if not is_done:
                await kill_session(process)
        if code == 1:  # it is whole but for what it names; the next one reads all anew
            read.unlink(missing_ok=True)
        return "" if self._made_at() != before else f"{self._progress} (exit code {code})"

    async def _follow(self, process: Process) -> None:
        """Keep the newest line that a process wrote."""
        assert process.stderr is not None
        async for line in process.stderr:
            self._progress = plain(line.decode(errors="replace").strip(), LINE_CHARS) or self._progress


def _bound(pid: int) -> None:
    """Give a process the lowest priority, and its bounds where the system can."""
    with suppress(OSError):  # it has ended already
        os.setpriority(os.PRIO_PROCESS, pid, 19)
        if hasattr(resource, "prlimit"):
            resource.prlimit(pid, resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (MOST_FILE_BYTES, MOST_FILE_BYTES))
