"""Two builds of one commit are equal byte for byte, and a release lists what it consists of and is signed."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

from dht import Identity, Publishers
from node.release_feed import VALID_S, read_feed
from node.version import VERSION
from tests.compiled_leaf import compiled
from tests.packaging.clean_machine import MADE_AT, ROOT, make_release

PACKAGING = ROOT / "packaging"
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def module(name: str, path: Path) -> ModuleType:
    spec = spec_from_file_location(name, path)
    assert spec and spec.loader
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.prove
def test_a_second_build_in_another_folder_gives_the_same_bytes(release: Path, tmp_path: Path) -> None:
    """The second build starts from the source archive of the first, which so has all that a release needs."""
    with tarfile.open(release / f"dse_node-{VERSION}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    second = make_release(tmp_path / f"dse_node-{VERSION}", tmp_path / "out")
    names = sorted(each.name for each in release.iterdir())
    assert names == sorted(each.name for each in second.iterdir()) and len(names) >= 6
    differ = [name for name in names if (release / name).read_bytes() != (second / name).read_bytes()]
    assert differ == []


@pytest.mark.prove
def test_the_wheel_fits_every_linux_whose_c_library_has_its_symbols(release: Path, tmp_path: Path) -> None:
    (wheel,) = release.glob("dse_node-*.whl")
    if "-abi3-" not in wheel.name or not shutil.which("readelf"):
        pytest.skip("nothing was compiled, or readelf is not on this machine")
    promised = re.search(r"-manylinux_2_([0-9]+)_", wheel.name)
    assert promised, wheel.name
    with ZipFile(wheel) as packed:
        leaves = [Path(packed.extract(name, tmp_path)) for name in packed.namelist() if name.endswith(".so")]
    assert len(leaves) == 2
    for leaf in leaves:
        told = subprocess.run(
            ["readelf", "-dV", str(leaf)], capture_output=True, text=True, check=True, timeout=60
        ).stdout
        assert max(int(minor) for minor in re.findall(r"GLIBC_2\.([0-9]+)", told)) <= int(promised[1])
        assert re.findall(r"\(NEEDED\).*\[(.*)\]", told) == ["libc.so.6"] and "PATH)" not in told


@pytest.mark.prove
def test_each_wheel_and_source_archive_has_the_licence(release: Path) -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    for file in release.glob("dse_node*.whl"):
        with ZipFile(file) as packed:
            assert licence in map(packed.read, packed.namelist()), file.name
    for file in release.glob("dse_node*.tar.gz"):
        with tarfile.open(file) as archive:
            name = f"{file.name.removesuffix('.tar.gz')}/LICENSE"
            found = archive.extractfile(name)
            assert found and found.read() == licence, file.name


@pytest.mark.prove
def test_the_sbom_names_all_that_a_clean_install_brings(release: Path) -> None:
    (file,) = release.glob("*.cdx.json")
    listed = json.loads(file.read_text())
    pins = pinned()
    for part in listed["components"]:
        assert pins[normal(part["name"])] == part["version"] and part["licenses"], part
        assert part["purl"].startswith(f"pkg:pypi/{normal(part['name'])}@") and len(part["hashes"][0]["content"]) == 64
    assert {normal(part["name"]) for part in listed["components"]} >= dependencies()
    assert listed["metadata"]["component"]["version"] == VERSION


def normal(name: str) -> str:
    return name.lower().replace("_", "-")


def pinned() -> dict[str, str]:
    lines = (PACKAGING / "pins.txt").read_text().splitlines()
    return {normal(name): version for name, _, version in (line.partition("==") for line in lines if "==" in line)}


def dependencies() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    return {normal(re.split(r"[^\w.-]", each)[0]) for each in wanted} - {"hatchling", "setuptools"}


def test_each_dependency_of_a_release_has_one_version() -> None:
    assert dependencies() | {"build", "hatchling", "setuptools"} <= pinned().keys()


def wheel_of(folder: Path, name: str, about: str) -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with ZipFile(path, "w") as packed:
        packed.writestr(
            f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{about}\n"
        )
    return path


def test_an_sbom_is_the_same_for_the_same_wheels(tmp_path: Path) -> None:
    sbom = module("sbom", PACKAGING / "sbom.py")
    wheels = [
        wheel_of(tmp_path, "dse-node", "License-Expression: Apache-2.0"),
        wheel_of(tmp_path, "two", "Classifier: License :: OSI Approved :: BSD License"),
        wheel_of(tmp_path, "One_half", "License: MIT\n        and a long text"),
    ]
    text = sbom.sbom_of(wheels, "dse-node", MADE_AT)
    assert text == sbom.sbom_of(reversed(wheels), "dse-node", MADE_AT)
    listed = json.loads(text)
    assert listed["metadata"]["component"]["licenses"] == [{"expression": "Apache-2.0"}]
    told = [(each["bom-ref"], each["licenses"][0]["license"]["name"]) for each in listed["components"]]
    assert told == [("pkg:pypi/one-half@1.0", "MIT"), ("pkg:pypi/two@1.0", "BSD License")]
    wheel_of(tmp_path, "two", "License: other")
    assert json.loads(sbom.sbom_of(wheels, "dse-node", MADE_AT))["serialNumber"] != listed["serialNumber"]


def test_a_leaf_does_not_depend_on_the_folder_it_is_compiled_in(tmp_path: Path) -> None:
    hatch_build = pytest.importorskip("hatch_build", reason="hatchling is not installed: pip install -e '.[dev]'")
    room = "crawl/content"
    here = compiled(room, tmp_path)
    shutil.copytree(ROOT / room / "leaf", tmp_path / "elsewhere" / room / "leaf")
    there = hatch_build.compile_leaf(tmp_path / "elsewhere", room, tmp_path / "elsewhere")
    assert here.read_bytes() == there.read_bytes()
    assert str(ROOT).encode() not in here.read_bytes()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other platforms have no glibc")
@pytest.mark.parametrize(("symbols", "oldest"), [(b"GLIBC_2.2.5 GLIBC_2.14", 17), (b"GLIBC_2.17 GLIBC_2.34", 34)])
def test_a_wheel_promises_the_c_library_that_its_symbols_need(tmp_path: Path, symbols: bytes, oldest: int) -> None:
    hatch_build = pytest.importorskip("hatch_build", reason="hatchling is not installed: pip install -e '.[dev]'")
    leaf = tmp_path / "_leaf.so"
    leaf.write_bytes(symbols)
    named = hatch_build.platform_of([leaf])
    if named.startswith("musllinux"):
        pytest.skip("this machine has no glibc")
    assert named.startswith(f"manylinux_2_{oldest}_")


def sign(folder: Path, **around: str) -> str:
    command = [sys.executable, PACKAGING / "release.py", "sign", folder]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SOURCE_DATE_EPOCH": str(MADE_AT), **around}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=60).stdout


def test_a_release_is_listed_and_signed(tmp_path: Path) -> None:
    key = Identity(b"k" * 32)
    key.save(tmp_path / "release.key")
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / f"dse_node-{VERSION}.tar.gz").write_bytes(b"source")
    assert "unsigned" in sign(folder)
    first = (folder / "releases.json").read_bytes()
    assert key.public_key.hex() in sign(folder, RELEASE_KEY=str(tmp_path / "release.key"))
    checked = re.search(r"(    python3 -c .*?)\n\n", (ROOT / "docs" / "volunteer.md").read_text(), re.S)
    assert checked, "the documents say how people check a release"
    words = checked[1].replace(" KEY |", f" {key.public_key.hex()} |")
    told = subprocess.run(["sh", "-ec", words], cwd=folder, check=True, capture_output=True, text=True, timeout=60)
    assert "Signature Verified Successfully" in told.stdout and f"dse_node-{VERSION}.tar.gz: OK" in told.stdout
    (folder / "release.pem").unlink()
    (folder / "SHA256SUMS").write_text((folder / "SHA256SUMS").read_text().upper())
    assert subprocess.run(["sh", "-ec", words], cwd=folder, capture_output=True, timeout=60).returncode
    (folder / "release.pem").unlink()
    data = (folder / "releases.json").read_bytes()
    feed = read_feed(data, Publishers((key.public_key.hex(),), 1), MADE_AT + VALID_S - 1)
    (newest,) = feed.releases
    assert (newest.version, newest.committed_at) == (VERSION, MADE_AT)
    assert [(each.name, each.bytes) for each in newest.files] == [(f"dse_node-{VERSION}.tar.gz", 6)]
    (tmp_path / "former.json").write_bytes(data.replace(VERSION.encode(), b"0.9.0"))
    sign(folder, RELEASE_FEED=str(tmp_path / "former.json"))
    document = json.loads((folder / "releases.json").read_bytes())["document"]
    assert [each["version"] for each in document["releases"]] == [VERSION, "0.9.0"]
    sign(folder)
    assert (folder / "releases.json").read_bytes() == first


def test_the_workflow_tests_and_builds_for_both_kinds_of_machine_by_commands_that_are_there() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install -e '.[dev]'")
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    kinds = {each["machine"] for each in jobs["build"]["strategy"]["matrix"]["include"]}
    assert kinds == {"ubuntu-24.04", "ubuntu-24.04-arm"}
    commands = "\n".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    used = set(re.findall(r"^make ([a-z]+)$", commands, re.M))
    assert used == {"test", "release"} <= targets
    assert all((ROOT / path).exists() for path in re.findall(r"\bpackaging/[\w.]+", commands))
    built = {job for job in jobs if job != "attach"}
    assert set(jobs["attach"]["needs"]) == built, "what is attached was not tested"
    used_actions = re.findall(r"uses: (\S+)", WORKFLOW.read_text())
    assert used_actions and all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", each) for each in used_actions)


def test_what_the_documents_have_a_release_manager_put_into_the_checkout_is_no_change_of_it() -> None:
    for name in ("release.key", "former/releases.json", "dist/SHA256SUMS"):
        assert subprocess.run(["git", "check-ignore", "--quiet", name], cwd=ROOT, timeout=60).returncode == 0, name


@pytest.mark.parametrize(
    ("tag", "section", "said"),
    [
        ("v9.9.9", VERSION, f"this commit has the tag v9.9.9, but node/version.py says {VERSION}"),
        (f"v{VERSION}", "0.9.9", f"the newest section of CHANGELOG.md is not about {VERSION}"),
    ],
)
def test_a_release_of_two_versions_is_refused(tmp_path: Path, tag: str, section: str, said: str) -> None:
    shutil.copytree(PACKAGING, tmp_path / "packaging", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n## {section}\n\nMuch.\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=all"], ["tag", tag]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True, timeout=60)
    around = {name: text for name, text in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    command = [sys.executable, "-B", tmp_path / "packaging" / "release.py", "build", tmp_path / "dist"]
    done = subprocess.run(
        command, env={**around, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1 and said in done.stderr
