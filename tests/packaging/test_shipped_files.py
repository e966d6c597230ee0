"""Packaged files are whole and fit the program: nothing here builds or installs."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from node.cli.main import build_parser
from node.config.settings import NodeConfig

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
PACKAGES = ("node", "dht", "crawl", "store", "index", "bootstrap")
SCRIPTS = sorted(path for path in PACKAGING.rglob("*") if path.is_file() and path.read_bytes().startswith(b"#!/bin/sh"))
CONTAINERFILE = (PACKAGING / "Containerfile").read_text()
PORTS = {str(NodeConfig().web_port), str(NodeConfig().peer_port)}


def files_of(folder: str) -> set[str]:
    built = {".so", ".pyd"}  # what an install compiled; a wheel gets its own
    paths = (path for path in (ROOT / folder).rglob("*") if path.suffix not in built)
    found = (path for path in paths if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT).as_posix() for path in found}


def test_the_wheel_and_the_source_archive_have_every_file() -> None:
    wheel = pytest.importorskip(
        "hatchling.builders.wheel", reason="hatchling is not installed: pip install -e '.[dev]'"
    )
    sdist = pytest.importorskip("hatchling.builders.sdist")
    wanted = set[str]().union(*map(files_of, PACKAGES))
    packed = {file.distribution_path for file in wheel.WheelBuilder(str(ROOT)).recurse_included_files()}
    assert packed == wanted
    source = {file.distribution_path for file in sdist.SdistBuilder(str(ROOT)).recurse_included_files()}
    folders = (
        *PACKAGES,
        "tests",
        "docs",
        "examples",
        "benchmarks",
        "contrib",
        "clients",
        "packaging",
        ".ci",
        ".github",
    )
    wanted = set[str]().union(*map(files_of, folders))
    assert {file for file in source if "/" in file} == wanted
    assert {file for file in source if "/" not in file} == {
        *(path.name for path in ROOT.glob("*.md")), "LICENSE", "Makefile", "mkdocs.yml", "hatch_build.py",
    }  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_scripts(script: Path) -> None:
    done = subprocess.run(["sh", "-n", str(script)], capture_output=True, text=True, timeout=10, check=False)
    assert not done.returncode and os.access(script, os.X_OK), done.stderr
    assert re.search(r"^set -eu?$", script.read_text(), re.M), "it would go on after what failed"


def test_the_commands_of_scripts_are_understood() -> None:
    text = "\n".join(path.read_text() for path in (*SCRIPTS, PACKAGING / "compose.yaml"))
    commands = re.findall(r"^(?!#).*\bdse-node ((?:init|run)\b[^\"\n]*)", text, re.M)
    commands += [f"network new {words} --out three.toml" for words in re.findall(r"^ +DSE_FOUND: (.+)", text, re.M)]
    assert {words.split()[0] for words in commands} == {"init", "run", "network"}
    for words in commands:
        plain = re.sub(r"\$\{.*|\$state", "", words)  # what stands in variables, to the end of the line
        assert build_parser().parse_args(shlex.split(plain.replace("--data-dir ", ""))).verb, words


def test_the_image_has_what_the_wheel_is_made_of_and_the_ports_that_a_node_uses() -> None:
    copied = [words.split()[:-1] for words in re.findall(r"^COPY (?!--)(.+)$", CONTAINERFILE, re.M)]
    named = {name for names in copied for name in names}
    assert {*PACKAGES, "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "packaging/pins.txt"} <= named
    assert all((ROOT / name).exists() for name in named)
    exposed = re.findall(r"([0-9]+)/(tcp|udp)", CONTAINERFILE)
    assert {port for port, _ in exposed} == PORTS and (str(NodeConfig().peer_port), "udp") in exposed
    assert re.search(r"^USER [1-9][0-9]*:[1-9][0-9]*$", CONTAINERFILE, re.M), "a node runs as root"
    checked = re.search(r"^HEALTHCHECK .*\\\n +CMD (.*)$", CONTAINERFILE, re.M)
    assert checked and build_parser().parse_args(json.loads(checked[1])[1:]).ready, "it asks the port that is set"


def test_the_three_nodes_keep_their_own_and_are_reached_from_this_machine_alone() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install -e '.[dev]'")
    compose: dict[str, Any] = yaml.safe_load((PACKAGING / "compose.yaml").read_text())
    nodes: list[dict[str, Any]] = list(compose["services"].values())
    assert len(nodes) == 3
    volume = re.search(r"^VOLUME (/\w+)$", CONTAINERFILE, re.M)
    assert volume
    kept = [name.split(":")[0] for node in nodes for name in node["volumes"] if name.split(":")[1] == volume[1]]
    assert len(set(kept)) == 3 and {*kept, "network"} == set(compose["volumes"])
    published = [port.split(":") for node in nodes for port in node["ports"]]
    assert len({outer for _, outer, _ in published}) == 3
    assert {host for host, _, _ in published} == {"127.0.0.1"}
    assert {inner for _, _, inner in published} == {str(NodeConfig().web_port)}
    founders = [node for node in nodes if "DSE_FOUND" in node["environment"]]
    assert len(founders) == 1 and f"node1:{NodeConfig().peer_port}" in founders[0]["environment"]["DSE_FOUND"]
    for node in nodes:
        assert node["read_only"] and node["cap_drop"] == ["ALL"]
        where = node["build"]["context"], node["build"]["dockerfile"]
        assert (PACKAGING / where[0]).resolve() == ROOT and (ROOT / where[1]).exists()
