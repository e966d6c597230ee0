"""Does the verb update: says which releases there are, and installs the newest one by what installed this program."""

import platform
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from dht import DseError
from node.cli.commands.doctor import ask_node, json_of, print_findings
from node.cli.commands.output import print_json
from node.cli.commands.target_node import configuration
from node.cli.release_files import fetch_feed, fetch_file, newer
from node.config.settings import UpdatesConfig
from node.errors import BadFeed, NothingToDo
from node.release_feed import Release, ReleaseFile
from node.version import VERSION
from node.views.checkup import Finding, fault_finding, update_findings, way_of

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}  # how it names machines


def update(arguments: Namespace) -> int:
    """Say which version this is, which one runs, what the network asks for, and which release is the newest; install
    that one unless only a check is wanted. 1 where the network or the list of releases needs a look."""
    answers, why = ask_node(arguments)
    parts = answers.get("status", {}), answers.get("peers", []), answers.get("strategy", {})
    config, newest = _updates(arguments), None
    findings = list(update_findings(VERSION, sys.prefix, *parts, why))
    try:
        newest = newer(fetch_feed(config, time.time())) if config.feed else None
        findings.append(_release_finding(config, newest))
    except BadFeed as error:
        findings.append(fault_finding("release", error))
    if arguments.json:
        print_json({**json_of(answers, findings), "newest": newest.version if newest else VERSION})
    else:
        print_findings(findings)
    if newest and not arguments.check:
        return _install(config, newest)
    return 1 if any(finding.health == "bad" for finding in findings) else 0


def _updates(arguments: Namespace) -> UpdatesConfig:
    try:
        return configuration(arguments).updates
    except DseError:  # no node lives here, which the findings say
        return UpdatesConfig()


def _release_finding(config: UpdatesConfig, newest: Release | None) -> Finding:
    if not config.feed:
        return Finding("release", "good", "nobody is asked for newer ones: updates.feed is empty")
    if newest is None:
        return Finding("release", "good", f"{VERSION} is the newest")
    day = time.strftime("%Y-%m-%d", time.gmtime(newest.committed_at))
    return Finding("release", "look", f"{newest.version} is there, of {day}", "dse-node update")


def _install(config: UpdatesConfig, release: Release) -> int:
    """Fetch the file of a release that fits this machine, and install it or say how."""
    way = way_of(sys.prefix)
    command = _command(sys.prefix)
    file = _fitting(release, ".deb" if ".deb" in way else ".whl")
    if not command:
        path = fetch_file(config, file, Path.cwd())
        print(f"{path.name} is here, and is what the signed list says. Install it:")
        print(f"  {way.replace('NEW.whl', str(path)).replace('./NEW.deb', f'./{path.name}')}")
        return 0
    with TemporaryDirectory() as folder:
        words = [*command, str(fetch_file(config, file, Path(folder)))]
        print(" ".join(words), flush=True)
        code = subprocess.run(words, check=False).returncode
    print(f"{release.version} is installed; start the node anew" if not code else f"it failed with code {code}")
    return code


def _command(prefix: str) -> Sequence[str]:
    """Return the words that install a wheel where this program lies; none where a person must do it."""
    if (Path(prefix) / "pipx_metadata.json").exists():
        return ("pipx", "runpip", "dse-node", "install", "--upgrade")
    if (Path(prefix) / "uv-receipt.toml").exists():
        return ("uv", "pip", "install", "--python", prefix, "--upgrade")
    return ()


def _fitting(release: Release, kind: str) -> ReleaseFile:
    """Return the daemon's file of a kind for this machine."""
    machine = platform.machine()
    ends = (f"_{DEBIAN.get(machine, machine)}.deb",) if kind == ".deb" else (f"_{machine}.whl", "-any.whl")
    names = {file.name: file for file in release.files if file.name.startswith(("dse_node-", "dse-node_"))}
    for end in ends:
        for name, file in names.items():
            if name.endswith(end):
                return file
    raise NothingToDo("update", f"{release.version} has no {kind} for {machine}", "build it from its source")
