"""The written config.toml: complete, commented, and read back as what it says."""

import re
import tomllib

from node.config.settings import Config
from node.config.toml_reader import keys_of, parse_config
from node.config.toml_writer import explain_keys, write_config


def test_a_written_file_reads_back_as_its_settings() -> None:
    text = write_config(Config, {"node.web_port": 9001, "node.web_names": ("a.test", "b.test")})
    config = parse_config(text, "f", Config)
    assert config.node.web_port == 9001
    assert config.node.web_names == ("a.test", "b.test")


def test_every_key_is_there_with_a_reason() -> None:
    text = write_config(Config, {})
    for key in keys_of(Config):
        leaf = key.rpartition(".")[2]
        assert re.search(rf"^# {leaf} = .*  # \S", text, re.MULTILINE), f"{key} has no line or no reason"


def test_the_commented_defaults_are_valid() -> None:
    text = write_config(Config, {})
    uncommented = re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE)
    assert tomllib.loads(uncommented)
    assert parse_config(uncommented, "f", Config) == Config()


def test_explained_keys_are_those_of_the_tree() -> None:
    explained = {key: (default, why) for key, default, why in explain_keys(Config)}
    assert set(explained) == set(keys_of(Config))
    assert explained["node.web_port"][0] == "8090"
