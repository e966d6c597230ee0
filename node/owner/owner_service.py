"""The owner's pages ask a node through this protocol, which `node/owner/desk.py` and the tests' fake implement.

Pure: values and a protocol.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from crawl import SitePage
from node.owner.figure_history import FigureHistory
from node.owner.job_ledger import JobRow
from node.owner.log_ring import LogLine
from node.owner.network_map import NetworkMap
from node.owner.setting_list import SettingRow
from node.sites.host_wishes import Wish


@dataclass(frozen=True, slots=True)
class SitesSeen:
    """Holds a page of the sites that wait, and the hosts of which the owner wishes something, both beginning as asked.

    `wished_count`: of such hosts, of which `wished` are the first."""

    page: SitePage
    wished: tuple[tuple[str, Wish], ...]
    wished_count: int


class OwnerService(Protocol):
    """A running node, as its owner sees it beyond what everybody may."""

    @property
    def history(self) -> FigureHistory:
        """The figures of the last hour and day."""

    def network(self) -> NetworkMap:
        """Return what this node hears of all slots and members."""

    def sites(self, beginning: str, after: str, most: int) -> SitesSeen:
        """Return the sites whose URLs wait here, by name, from a name on, with what each waits for."""

    async def wish(self, host: str, wish: Wish) -> None:
        """Pause a host ("held"), refuse it, or ("") neither; outlasts a restart. Raises BadHostWish."""

    async def jobs(self) -> Sequence[JobRow]:
        """Return the last crawls that were handed in here, each with what became of it so far."""

    def log(self) -> Sequence[LogLine]:
        """Return the newest lines of the log, newest first."""

    def settings(self) -> Sequence[SettingRow]:
        """Return all settings in force, and where each comes from."""

    async def set(self, key: str, typed: str) -> bool:
        """Write a setting into the node's file as its owner typed it; return whether it is in force at once. Raises
        ConfigError and MachineRefuses."""
