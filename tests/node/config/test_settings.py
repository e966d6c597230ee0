"""An operator sees that a configuration is right, or how it is wrong in one of the usual ways."""

import dataclasses
from pathlib import Path

import pytest

from crawl import CrawlConfig
from node.config.settings import Config, NodeConfig, load_config, with_contact
from node.config.toml_reader import keys_of, parse_config
from node.errors import ConfigError

LOGINS = '[node]\nweb_login_header = "Remote-User"\nweb_login_owners = ["ann"]\n'


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "config.toml", Config)
    return str(caught.value)


def test_an_empty_file_gives_the_defaults() -> None:
    config = parse_config("", "config.toml", Config)
    assert config == Config()
    assert (config.node.web_address, config.node.web_port, config.node.peer_port) == ("127.0.0.1", 8090, 8091)


def test_settings_are_read_and_the_rest_keeps_its_default() -> None:
    config = parse_config('[node]\nweb_port = 9000\nfamilies = [6]\nweb_names = ["search.home"]\n', "f", Config)
    assert config.node == dataclasses.replace(NodeConfig(), web_port=9000, families=(6,), web_names=("search.home",))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[node]\nweb_prot = 1\n", ["config.toml", "unknown key node.web_prot", "did you mean node.web_port?"]),
        ("web_port = 1\n", ["unknown key web_port", "did you mean node.web_port?"]),
        ("[nodes]\nweb_port = 1\n", ["unknown key nodes", "did you mean node?"]),
        ('[node]\nweb_port = "8090"\n', ["node.web_port", "takes a whole number, not a text"]),
        ("[node]\nweb_port = 99999\n", ["node", "web_port: 99999 is not a port"]),
        ('[node]\nweb_origins = ["https://a.test/x"]\n', ["web_origins: 'https://a.test/x' is neither * nor like"]),
        ("[node]\nweb_caller_per_s = -1.0\n", ["web_caller_per_s: -1.0 is neither 0 nor between 0.01 and 10000"]),
        ("[node]\nweb_caller_burst = 0\n", ["web_caller_burst: 0 is not between 1 and 100000"]),
        (
            '[node]\nweb_trusted_proxies = ["10.0.0.1/8"]\n',
            ["web_trusted_proxies: 10.0.0.1/8 has host bits set; it takes"],
        ),
        (
            '[node]\nweb_login_header = "X_User"\n',
            ["web_login_header: 'X_User' is no header of its own, such as Remote-User"],
        ),
        ('[node]\nweb_login_header = "X-Forwarded-For"\n', ["is no header of its own"]),
        ('[node]\nweb_login_header = "Remote-User"\n', ["web_login_header: needs web_login_proxies and"]),
        ('[node]\nweb_login_proxies = ["10.0.0.7"]\n', ["web_login_header: needs", "and they need it"]),
        (
            LOGINS + 'web_login_proxies = ["0.0.0.0/0"]\n',
            ["0.0.0.0/0 holds this machine, too; name 127.0.0.0/8 by itself"],
        ),
        (LOGINS + 'web_login_proxies = ["::/0"]\n', ["::/0 holds this machine, too; name ::1/128 by itself"]),
        (LOGINS + 'web_login_proxies = ["10.0.0.1/8"]\n', ["web_login_proxies: 10.0.0.1/8 has host bits set"]),
        (
            LOGINS + 'web_login_proxies = ["10.0.0.7"]\nweb_login_viewers = [""]\n',
            ["web_login_owners: a name is empty, or begins or ends with a blank"],
        ),
        (
            LOGINS + 'web_login_proxies = ["10.0.0.7"]\nweb_login_viewers = ["ann"]\n',
            ["web_login_viewers: a name is there twice, or one of web_login_owners"],
        ),
        ('[node]\nweb_proxy_header = "Via"\n', ["node.web_proxy_header", "Via", '"X-Forwarded-For" or "Forwarded"']),
        ('[node]\nweb_address = "localhost"\n', ["web_address: 'localhost' is no IPv4 or IPv6 address"]),
        ('[node]\nlisten_v4 = "::"\n', ["listen_v4: '::' is no IPv4 address"]),
        ('[dht]\nannounce_v4 = "999.1.1.1"\n', ["announce_v4: '999.1.1.1' is not a unicast IPv4 address"]),
        ('[dht]\nannounce_v4 = "2001:db8::7"\n', ["announce_v4: '2001:db8::7' is not a unicast IPv4 address"]),
        ('[dht]\nannounce_v4 = "0.0.0.0"\n', ["announce_v4: '0.0.0.0' is not a unicast IPv4 address"]),
        ('[dht]\nannounce_v6 = "ff02::1"\n', ["announce_v6: 'ff02::1' is not a unicast IPv6 address"]),
        ('[dht]\nannounce_v6 = "fe80::1%eth0"\n', ["announce_v6: 'fe80::1%eth0' is not a unicast IPv6 address"]),
        ("[node]\nfamilies = [5]\n", ["node.families", "5", "it takes 4 or 6"]),
        ('[crawl]\nrevisit = "often"\n', ["crawl.revisit", "often", 'it takes "gain" or "changed" or "all"']),
        ('[crawl]\nmin_delay_s = "often"\n', ["crawl.min_delay_s: takes a number", "write a value such as 1.0"]),
        ("[node]\nfamilies = []\n", ["families: is empty"]),
        ('[hook]\ncommand = "mail ann"\n', ["hook.command", "takes a list, not a text"]),
        ('[hook]\ncommand = ["mail", "ann"]\n', ["command: 'mail' does not begin with /", "whole path"]),
        ('[hook]\ncommand = ["/bin/a\\u0000b"]\n', ["command: holds a NUL"]),
        ('[hook]\nurl = "ftp://a.org/"\n', ["url: 'ftp://a.org/' is not an http or https URL"]),
        ('[hook]\nurl = "https://[::1"\n', ["url: 'https://[::1' is not an http or https URL"]),
        ('[traces]\nurl = "collector:4318"\n', ["url: 'collector:4318' is not an http or https URL"]),
        ("[traces]\nshare = 10\n", ["share: 10.0 is not between 0 and 1"]),
        ("[hook]\nmember_s = -1\n", ["member_s: -1.0 is not between 0 and 2"]),
        ("[hook]\ntimeout_s = 0\n", ["timeout_s: 0.0 is not between 0.1 and 300"]),
        ('[node]\nlog_level = "loud"\n', ["node.log_level", "loud"]),
        ("node = 3\n", ["node: takes a table, not a whole number"]),
        ("[node\n", ["this is not TOML", "line 1"]),
    ],
)
def test_a_mistake_is_named_with_its_place_and_remedy(text: str, parts: list[str]) -> None:
    line = refusal(text)
    assert "\n" not in line
    for part in parts:
        assert part in line


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="dse-node init"):
        load_config(tmp_path / "config.toml")
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 0"):
        load_config(tmp_path / "config.toml")
    with pytest.raises(ConfigError, match="directory"):
        load_config(tmp_path)


def test_the_reader_takes_any_tree() -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Leaf:
        min_delay_s: float = 1.0
        names: tuple[str, ...] = ()

    @dataclasses.dataclass(frozen=True, slots=True)
    class Tree:
        crawl: Leaf = dataclasses.field(default_factory=Leaf)

    globals().update(Leaf=Leaf, Tree=Tree)  # so that get_type_hints finds them
    assert list(keys_of(Tree)) == ["crawl.min_delay_s", "crawl.names"]
    assert parse_config("[crawl]\nmin_delay_s = 2\n", "f", Tree).crawl.min_delay_s == 2.0
    with pytest.raises(ConfigError, match=r"unknown key crawl\.host_delay; did you mean crawl\.min_delay_s\?"):
        parse_config("[crawl]\nhost_delay = 2\n", "f", Tree)


def test_site_owners_are_sent_to_the_network_not_to_the_volunteer() -> None:
    """Unless the node's own configuration names another page."""
    page = "https://dse.example.edu/bot"
    assert with_contact(Config(), page).crawl.user_agent("1") == f"dse-node/1 (+{page})"
    own = with_contact(Config(crawl=CrawlConfig(info_url="https://own.test/")), page)
    assert own.crawl.info_url == "https://own.test/"
    assert with_contact(Config(), "").crawl.user_agent("1") == "dse-node/1"


def test_hours_and_bandwidth_that_cannot_work_are_refused_by_name() -> None:
    bad = {'hours = "22-7"': "hours: '22-7' is not a range", "max_bytes_s = 10": "max_bytes_s: 10 is not 0"}
    for text, reason in bad.items():
        with pytest.raises(ConfigError, match=reason):
            parse_config(f"[crawl]\n{text}\n", "f", Config)
