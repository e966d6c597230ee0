"""Decides which settings of a backup a restored node takes over.

Pure: configurations in, texts of config.toml out. Anybody can make a backup, and settings can run a program, open a
port or send data. A new node takes over its limits alone. The very node that was backed up takes over all settings;
those that run, open or send only where its owner agrees.
"""

from collections.abc import Callable, Mapping
from typing import Any

from node.config.settings import Config
from node.config.toml_reader import changes_of, value_of
from node.config.toml_writer import write_config

Settings = Mapping[str, Any]  # by key, such as node.web_port

_LIMITS = {
    "store.quota_bytes",
    *("crawl.max_bytes_s", "crawl.hours", "crawl.refuse", "crawl.max_open_fetches"),
}
# A stranger may make a node more polite or more thrifty than it is by default, never less.
_DELAYS = {
    *("crawl.address_delay_s", "crawl.min_delay_s", "crawl.max_delay_s", "crawl.max_error_delay_s"),
    *("crawl.max_crawl_delay_s", "crawl.latency_factor"),
}
_CAPS = {
    *("crawl.max_open_per_address", "crawl.max_pending_pages", "crawl.max_frontier_urls", "crawl.total_timeout_s"),
    *("crawl.max_body_bytes", "crawl.max_sitemaps", "crawl.max_sitemap_urls", "crawl.max_sitemap_bytes"),
    *("crawl.max_links", "crawl.max_text_chars", "crawl.max_hops"),
}
_HARMLESS = {  # texts and lists that name no program, file, address or site to speak with
    *("node.mode", "node.families", "node.log_level", "dht.operator", "index.engine"),
    *("crawl.hours", "crawl.refuse", "crawl.revisit"),
}


def limits_of(config: Config) -> str:
    """Return the config.toml of a new node that keeps the limits of another."""
    return write_config(Config, {key: value for key, value in changes_of(config).items() if _is_limit(key, value)})


def own_settings(config: Config, agrees: Callable[[Settings], bool]) -> tuple[Settings, Settings]:
    """Return the settings that the same node keeps, and those that are left out because `agrees` refused them."""
    settings = changes_of(config)
    asked = {key: value for key, value in settings.items() if is_asked(key, value)}
    if not asked or agrees(asked):
        return settings, {}
    return {key: value for key, value in settings.items() if key not in asked}, asked


def is_asked(key: str, value: Any) -> bool:
    """Tell whether a setting may run, open or send. A text or a list may name anything; a switch that is off by default
    opens; all other numbers and switches tune, but the port that peers reach."""
    if key == "node.peer_port" or key.startswith(("hook.", "traces.")):
        return True
    return key not in _HARMLESS and (value is True or isinstance(value, str | tuple))


def _is_limit(key: str, value: Any) -> bool:
    default = value_of(Config(), key)
    return key in _LIMITS or (key in _DELAYS and value > default) or (key in _CAPS and value < default)
