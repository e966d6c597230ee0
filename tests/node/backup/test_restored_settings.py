"""A restored node takes over its limits; what runs, opens or sends, only where somebody agrees."""

from node.backup.restored_settings import Settings, is_asked, limits_of, own_settings
from node.config.settings import Config
from node.config.toml_reader import defaults_of, keys_of, parse_config

HARMLESS = {
    *("node.mode", "node.families", "node.log_level", "dht.operator", "index.engine"),
    *("crawl.hours", "crawl.refuse", "crawl.revisit"),
}


def config(text: str) -> Config:
    return parse_config(text, "it", Config)


def refuses(_: Settings) -> bool:
    return False


def test_each_text_list_and_switch_is_asked_about_unless_it_is_known_to_be_harmless() -> None:
    branches = {name: defaults_of(type(branch)) for name, branch in defaults_of(Config).items()}
    defaults = {key: branches[key.partition(".")[0]][key.partition(".")[2]] for key in keys_of(Config)}
    texts = {key for key, default in defaults.items() if isinstance(default, str | tuple)}
    switches = {key for key, default in defaults.items() if default is False}
    assert {key for key in texts if not is_asked(key, "x")} == HARMLESS
    assert switches and all(is_asked(key, True) for key in switches)
    told = {key for key in defaults if key.startswith(("hook.", "traces."))} | {"node.peer_port"}
    assert all(is_asked(key, 1) for key in told)
    assert not is_asked("node.map_ports", False) and not is_asked("node.web_port", 8190)


def test_without_agreement_the_rest_is_kept() -> None:
    kept, left_out = own_settings(
        config('[node]\nweb_address = "::"\nweb_port = 81\nmap_ports = false\n[crawl]\nmin_delay_s = 0.5'), refuses
    )
    assert kept == {"node.web_port": 81, "node.map_ports": False, "crawl.min_delay_s": 0.5}
    assert left_out == {"node.web_address": "::"}


def test_where_nothing_is_to_be_agreed_to_nobody_is_asked() -> None:
    def asked(_: Settings) -> bool:
        raise AssertionError("asked for nothing")

    assert own_settings(config("[node]\nweb_port = 81"), asked) == ({"node.web_port": 81}, {})


def test_a_new_node_takes_limits_over_and_delays_only_where_they_are_longer() -> None:
    text = "[store]\nquota_bytes = 1\n[crawl]\nmin_delay_s = 9.0\nlatency_factor = 0.5\nmax_links = 9\nmax_hops = 99\n"
    found = config(limits_of(config(text)))
    assert (found.store.quota_bytes, found.crawl.min_delay_s, found.crawl.max_links) == (1, 9.0, 9)
    assert (found.crawl.latency_factor, found.crawl.max_hops) == (2.0, 10)
