"""Settings as their owner sees them: all of them, where each comes from, and no secret."""

from dataclasses import replace

import msgspec

from node.config.settings import Config, HookConfig, parse_config
from node.config.toml_reader import keys_of
from node.owner.setting_list import keys_set, setting_rows

FILE = """
[node]
web_port = 8190
[crawl]
refuse = ["a.test", "*.b.test"]
[hook]
url = "https://user:secret@example.org/topic"
mail_server = "smtps://ann:secret@example.org"
"""


def test_each_setting_is_listed_with_where_it_comes_from() -> None:
    config = parse_config(FILE, "config.toml", Config)
    config = replace(config, crawl=msgspec.structs.replace(config.crawl, info_url="https://example.org/bot"))
    rows = {row.key: row for row in setting_rows(config, FILE)}
    assert list(rows) == list(keys_of(Config))
    assert (rows["node.web_port"].value, rows["node.web_port"].origin) == ("8190", "file")
    assert (rows["crawl.refuse"].value, rows["crawl.refuse"].origin) == ("a.test, *.b.test", "file")
    assert rows["crawl.info_url"].origin == "start", "it came from the network file"
    assert (rows["node.peer_port"].value, rows["node.peer_port"].origin) == ("8091", "default")


def test_what_may_be_a_secret_is_not_shown() -> None:
    rows = setting_rows(parse_config(FILE, "config.toml", Config), FILE)
    assert "secret" not in str(rows)
    hook = {row.key: row.value for row in rows if row.key.startswith("hook.")}
    seconds = {f"hook.{name}": f"{getattr(HookConfig(), name):g}" for name in ("member_s", "laptop_s", "timeout_s")}
    ways = {"hook.command": "", "hook.url": None, "hook.ntfy": "", "hook.mail": "", "hook.mail_server": None}
    assert hook == {**ways, **seconds}


def test_a_file_that_is_broken_meanwhile_sets_nothing() -> None:
    assert keys_set("[node\nweb_port = 1") == frozenset() and keys_set("a = 1") == frozenset()
