"""The bodies by which an owner's programs read and end crawl jobs, read the log, and read and change settings.

Pure: values only.
"""

from typing import Annotated

from msgspec import Meta

from node.api.body import RequestBody, ResponseBody
from node.api.crawl import Pace


class JobEntry(ResponseBody):
    """One of the last crawls that were handed in at this node, or one that repeats (`every`).

    `scope`: of the first address, in words; "" for the whole web. `others`: addresses that are gone, refused or
    redirected, cancelled ones included. `is_cut`: only the first addresses are followed."""

    number: int
    at: float
    first: str
    seeds: int
    depth: int
    scope: str
    fetched: int
    waiting: int
    failed: int
    others: int
    reasons: list[str]
    is_done: bool
    is_cut: bool
    is_cancelled: bool
    every: Pace


class JobTable(ResponseBody):
    """The last crawls, the newest first."""

    jobs: list[JobEntry]


class CancelOrder(RequestBody):
    """The body of POST /api/v1/jobs/cancel."""

    number: int


class LogEntry(ResponseBody):
    """One line of the node's log; `at` is Unix seconds."""

    at: float
    level: str
    source: str
    text: str


class LogLines(ResponseBody):
    """The newest lines of the log, the oldest first."""

    lines: list[LogEntry]


class SettingEntry(ResponseBody):
    """One setting. `value` is null where it may hold a secret, `waiting` where the next start changes nothing."""

    key: str
    value: str | None
    origin: str
    waiting: str | None


class SettingTable(ResponseBody):
    """All settings in force, in the order of config.toml."""

    settings: list[SettingEntry]


class SettingOrder(RequestBody):
    """The body of POST /api/v1/settings: one setting, and its value as a person types it."""

    key: Annotated[str, Meta(max_length=80)]
    value: Annotated[str, Meta(max_length=8192)]


class SettingTaken(ResponseBody):
    """Whether the setting is in force at once; otherwise the next start takes it over."""

    is_now: bool
