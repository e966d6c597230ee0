"""One setting changed in the owner's file: all else stays, and nothing gets in that stops the next start."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.config.settings import Config, parse_config
from node.config.toml_reader import keys_of, value_of
from node.config.toml_writer import toml_value, write_config
from node.errors import ConfigError
from node.owner.setting_change import changed, is_open, setting_about

OWN = write_config(Config, {"node.web_port": 8190, "crawl.max_hops": 3})
OPEN = [key for key in keys_of(Config) if is_open(key)]


def test_a_value_takes_the_place_of_the_default_that_the_file_shows() -> None:
    fresh = write_config(Config, {"node.web_port": 8190})
    text, config = changed(fresh, "store.quota_bytes", "50_000_000_000")
    assert config.store.quota_bytes == 50_000_000_000 and config.node.web_port == 8190
    before, after = fresh.splitlines(), text.splitlines()
    assert len(before) == len(after)
    ((old, new),) = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert old.startswith("# quota_bytes = ") and new.startswith("quota_bytes = 50000000000  # the most that")
    again, config = changed(text, "store.quota_bytes", "7")
    assert config.store.quota_bytes == 7 and again.count("quota_bytes") == text.count("quota_bytes")


def test_a_file_of_its_owners_own_keeps_every_line() -> None:
    own = '# mine\n[crawl] # all of it\nrefuse = ["a.test"] # a friend\n\n[node]\nweb_port = 1\n'
    text, config = changed(own, "crawl.refuse", "*.b.test, /x{1,2}/ c.test")
    assert config.crawl.refuse == ("*.b.test", "/x{1,2}/", "c.test")
    assert [line for line in own.splitlines() if "refuse" not in line] == [
        line for line in text.splitlines() if "refuse" not in line
    ]
    text, config = changed(own, "store.compact_below", "0.25")
    assert text == own + "\n[store]\ncompact_below = 0.25\n" and config.store.compact_below == 0.25
    assert changed("", "store.quota_bytes", "10 GB")[1].store.quota_bytes == 10_000_000_000
    assert changed("", "crawl.refuse", '["a.test", "b.test"]')[1].crawl.refuse == ("a.test", "b.test")
    text, config = changed("", "crawl.hours", "22:00-07:00")
    assert config.crawl.hours == "22:00-07:00" and parse_config(text, "x", Config) == config


@pytest.mark.parametrize(
    ("own", "key", "typed", "why"),
    [
        ("", "crawl.hours", "25:00-26:00", "25:00"),
        ("", "crawl.max_bytes_s", "12", "is not 0"),
        ("", "store.quota_bytes", "plenty", "takes a value such as"),
        ("", "store.quota_bytes", "7\nsegment_bytes = 8", "takes a value such as"),
        ("", "store.quota_bytes", "'7'", "whole number"),
        ("", "crawl.refuse", "no host/", "write a prefix"),
        ("", "crawl.agent", 'a"\n[hook]\nurl = "http://x', "agent"),
        ("", "hook.command", "/bin/sh", "cannot be changed here"),
        ("", "node.web_address", "0.0.0.0", "cannot be changed here"),
        ("", "crawl.nothing", "1", "is no setting"),
        ('[crawl]\nrefuse = [\n"a.test",\n]\n', "crawl.refuse", "b.test", "config.toml: "),
        ("[crawl\n", "crawl.hours", "", "not TOML"),
        ('crawl.agent = "a"\n', "crawl.hours", "1:00-2:00", "config.toml: "),
    ],
)
def test_what_the_next_start_would_refuse_or_nobody_may_change_here_is_refused(
    own: str, key: str, typed: str, why: str
) -> None:
    with pytest.raises(ConfigError, match="(?s)" + why.replace("(", r"\(")):
        changed(own, key, typed)


@settings(deadline=None)
@given(key=st.sampled_from(OPEN), typed=st.text(max_size=40) | st.sampled_from(["1", "1.5", "true", "[]", "''", "x y"]))
def test_whatever_is_typed_changes_that_setting_or_nothing(key: str, typed: str) -> None:
    try:
        text, config = changed(OWN, key, typed)
    except ConfigError:
        return
    assert parse_config(text, "x", Config) == config
    before = parse_config(OWN, "x", Config)
    assert {name for name in keys_of(Config) if value_of(before, name) != value_of(config, name)} <= {key}


def test_what_is_shown_of_a_setting_may_be_sent_back() -> None:
    own = write_config(Config, {})
    for key in OPEN:
        value = value_of(Config(), key)
        typed = " ".join(value) if isinstance(value, tuple) else value if isinstance(value, str) else toml_value(value)
        assert value_of(changed(own, key, typed)[1], key) == value, key
    about = setting_about("crawl.hours")
    assert about is not None and about.default == '""' and "local time" in about.why
    assert setting_about("hook.command") is None and setting_about("x") is None


def test_a_setting_that_needs_another_is_set_after_it_and_a_list_is_typed_as_the_file_has_it() -> None:
    feed = "https://dse.example.edu/releases.json"
    with pytest.raises(ConfigError, match=r"updates\.keys: is empty"):
        changed("", "updates.feed", feed, anything=True)
    for typed in (f'["{"a" * 64}", "{"b" * 64}"]', f"{'a' * 64} {'b' * 64}"):
        text, _ = changed("", "updates.keys", typed, anything=True)
        updates = changed(text, "updates.feed", feed, anything=True)[1].updates
        assert (updates.feed, updates.keys) == (feed, ("a" * 64, "b" * 64))
    assert changed("", "node.families", "[4]", anything=True)[1].node.families == (4,)
    assert changed("", "crawl.txt_servers", "[2001:db8::1]:53", anything=True)[1].crawl.txt_servers


def test_at_the_command_line_any_setting_is_changed_and_a_wrong_value_is_still_refused() -> None:
    text, config = changed("", "node.web_port", "8190", anything=True)
    assert config.node.web_port == 8190 and "\nweb_port = 8190" in text
    with pytest.raises(ConfigError):
        changed("", "node.web_port", "900000", anything=True)
