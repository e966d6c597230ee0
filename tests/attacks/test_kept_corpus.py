"""Files that once did harm, or nearly: each is refused in words, soon, by whatever reads such files.

`corpus/` keeps packages of records (`.package`), configurations (`.toml`) and seed files (`.warc`) as bytes, so that a
later version meets what an earlier one met. The fuzzers below bend what is right; what they find is kept there, too.
"""

from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bootstrap import load_network
from dht import BadStrategy
from node.config.settings import Config, load_config
from node.config.toml_reader import keys_of
from node.crawling.store_change_feed import RecordRules
from node.errors import ConfigError
from node.jobs.seed_files import BadSeedFile, read_seeds
from store.errors import BadReplica
from store.record.package import open_package
from store.record.record_check import RecordCheck

CORPUS = Path(__file__).parent / "corpus"
CHECK = RecordCheck(RecordRules())
KEYS = sorted(keys_of(Config))
VALUES = ["-1", "1e999", "nan", '""', '"\\u0000"', "[]", "{}", "true", "9" * 30, '"x"', "1979-05-27", '["", 1]', "[[]]"]
many = settings(max_examples=60, deadline=None, derandomize=True)


def kept(ending: str) -> list[Path]:
    found = sorted(CORPUS.glob(f"*.{ending}"))
    assert found
    return found


@pytest.mark.parametrize("path", kept("package"), ids=lambda path: path.stem)
def test_no_record_of_a_kept_package_is_taken(path: Path) -> None:
    try:
        found = open_package(path.read_bytes())
    except BadReplica:
        return
    assert found and all(flaw.reason for flaw in CHECK.flaws(found))


@pytest.mark.parametrize("path", kept("toml"), ids=lambda path: path.stem)
def test_a_kept_configuration_is_refused_in_one_line(path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", kept("toml"), ids=lambda path: path.stem)
def test_a_kept_network_file_is_refused_soon(path: Path) -> None:
    """Running nodes read it again from the web each day."""
    began = process_time()
    with pytest.raises(BadStrategy):
        load_network(path)
    assert process_time() - began < 3.0


@pytest.mark.parametrize("path", kept("warc"), ids=lambda path: path.stem)
def test_a_kept_seed_file_is_refused_in_one_line(path: Path) -> None:
    with pytest.raises(BadSeedFile) as caught:
        list(read_seeds(path))
    assert "\n" not in str(caught.value)


@many
@given(st.sampled_from(KEYS), st.sampled_from(VALUES))
def test_any_value_of_any_setting_is_taken_or_refused_in_words(tmp_path_factory, key: str, value: str) -> None:  # type: ignore[no-untyped-def]
    table, _, leaf = key.rpartition(".")
    refused_or_read(tmp_path_factory, f"[{table}]\n{leaf} = {value}\n".encode())


@many
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_a_configuration_or_refused_in_words(tmp_path_factory, data: bytes) -> None:  # type: ignore[no-untyped-def]
    refused_or_read(tmp_path_factory, data)


def refused_or_read(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.toml"
    path.write_bytes(data)
    try:
        load_config(path)
    except ConfigError as error:
        assert "\n" not in str(error)
