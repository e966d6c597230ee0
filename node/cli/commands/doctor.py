"""Does the verbs that look for what keeps a node from doing all that it should: doctor, update."""

import json
import platform
import socket
import sys
import time
from argparse import Namespace
from pathlib import Path

from bootstrap import load_network
from dht import BadIdentity, DseError, Network, write_secret
from node.cli.commands.output import bold, confirm, print_json
from node.cli.commands.target_node import client, configuration, data_dir
from node.cli.machine_checks import (
    directory_findings,
    disk_finding,
    name_finding,
    names_of,
    resolve,
    silence_findings,
)
from node.cli.release_files import fetch_feed, install, newer
from node.config.data_dir import DataDir
from node.config.settings import Config, NodeConfig, UpdatesConfig
from node.config.toml_reader import changes_of
from node.errors import BadFeed, ConfigError, NothingToDo, NotRunning
from node.release_feed import Release
from node.strategy.draft import read_version
from node.strategy.signing import own_keys
from node.version import VERSION
from node.views.checkup import Finding, fault_finding, findings_of, update_findings
from node.views.lenient_json import Json, count, table
from node.views.public_network import public_findings
from node.views.redaction import Redaction
from node.views.safe_text import plain

SIGNS = {"good": "good", "look": "LOOK", "bad": "BAD "}


def doctor(arguments: Namespace) -> int:
    """Check the node that is meant and its machine; 1 where something is bad or it does not run, else 0."""
    if arguments.with_addresses and not arguments.bundle:
        raise NothingToDo("--with-addresses", "goes with --bundle", "leave it out, or name a file")
    answers, why = _ask(arguments)
    findings = _network_findings(arguments, answers, why) if arguments.network else _findings(arguments, answers, why)
    code = 1 if any(finding.health == "bad" for finding in findings) else 0
    if arguments.bundle:
        return code if _write_bundle(arguments, answers, findings) else 1
    if arguments.json:
        print_json(_json(answers, findings))
        return code
    _print(findings)
    return code


def update(arguments: Namespace) -> int:
    """Say which version this is, which one runs, what the network asks for, and which release is the newest; install
    that one unless only a check is wanted. 1 where the network or the list of releases needs a look."""
    answers, why = _ask(arguments)
    parts = answers.get("status", {}), answers.get("peers", []), answers.get("strategy", {})
    config, newest = _updates(arguments), None
    findings = list(update_findings(VERSION, sys.prefix, *parts, why))
    try:
        newest = newer(fetch_feed(config, time.time())) if config.feed else None
        findings.append(_release_finding(config, newest))
    except BadFeed as error:
        findings.append(fault_finding("release", error))
    if arguments.json:
        print_json({**_json(answers, findings), "newest": newest.version if newest else VERSION})
    else:
        _print(findings)
    if newest and not arguments.check:
        return install(config, newest, sys.prefix, Path.cwd())
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


def _ask(arguments: Namespace) -> tuple[Json, DseError | None]:
    """Return what the running node says of itself, or nothing and why it could not be asked. Raises RefusedByNode."""
    try:
        node = client(arguments)
        answers = {
            "status": node.get("/api/v1/status"),
            "peers": node.get("/api/v1/peers").get("peers", []),
            "strategy": node.get("/api/v1/strategy"),
        }
        return answers, None
    except (NotRunning, ConfigError, BadIdentity) as error:  # the latter two are findings of their own
        if arguments.url:
            raise
        return {}, error


def _findings(arguments: Namespace, answers: Json, why: DseError | None) -> list[Finding]:
    if arguments.url:  # of which only its own word is known
        return list(findings_of(answers["status"], answers["peers"], answers["strategy"], time.time()))
    data = data_dir(arguments)
    try:
        config = configuration(arguments)
    except DseError as error:
        return [fault_finding("settings", error), *directory_findings(data, data.network)]
    findings = [Finding("settings", "good", str(data.config)), *directory_findings(data, Path(config.node.network))]
    network = _network(config)
    if answers:
        findings.append(Finding("node", "good", "it runs and answers"))
        findings += findings_of(answers["status"], answers["peers"], answers["strategy"], time.time())
    else:
        findings += silence_findings(data, why, config, network, time.time())
    findings.append(disk_finding(data, config))
    findings.append(name_finding(names_of(network, config.node) if network else [], resolve))
    return findings


def _network_findings(arguments: Namespace, answers: Json, why: DseError | None) -> list[Finding]:
    """Judge whether the network is ready for strangers. Raises NotRunning: only a running node knows the members."""
    if why is not None:
        raise why
    data, config = data_dir(arguments), configuration(arguments)
    network, strategy = load_network(Path(config.node.network)), read_version(answers["strategy"])
    resolved = dict[str, bool]()
    for name in names_of(network, NodeConfig()):
        try:
            resolve(name)
            resolved[name] = True
        except OSError:
            resolved[name] = False
    members = count(table(answers["status"], "peers"), "live") + (answers["status"].get("role") != "client")
    own = len(own_keys(data.keys, strategy.publishers))
    return list(public_findings(network, strategy, members, own, resolved, time.time()))


def _network(config: Config) -> Network | None:
    try:
        return load_network(Path(config.node.network))
    except (DseError, OSError):  # named by `directory_findings`
        return None


def _print(findings: list[Finding]) -> None:
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        sign = SIGNS[finding.health]
        print(f"{sign if finding.health == 'good' else bold(sign)}  {finding.name:<{width}}  {plain(finding.found)}")
        if finding.remedy:
            print(f"      {'':<{width}}  → {plain(finding.remedy)}")


def _json(answers: Json, findings: list[Finding]) -> Json:
    is_ok = all(finding.health != "bad" for finding in findings)
    return {"ok": is_ok, "running": bool(answers), "checks": [finding.json() for finding in findings]}


def _write_bundle(arguments: Namespace, answers: Json, findings: list[Finding]) -> bool:
    """Show what a bundle holds, then write it where nobody says no; a file that is there stays as it is."""
    file = Path(arguments.bundle).expanduser()
    if file.exists():
        raise NothingToDo("--bundle", f"{file} is there already", "name a new file")
    bundle = {
        "made_by": "dse-node doctor",
        "machine": {"system": platform.system(), "release": platform.release(), "python": platform.python_version()},
        **_json(answers, findings),
        "settings": _settings(arguments),
        **answers,
    }
    secrets = _secrets(data_dir(arguments))
    text = json.dumps(Redaction(secrets, keeps_addresses=arguments.with_addresses).of(bundle), indent=2) + "\n"
    print(text, end="")
    if not confirm(f"Write this to {file}?"):
        return False
    write_secret(file, text)
    print(f"wrote {file}; read it before you send it to anybody", file=sys.stderr)
    return True


def _secrets(data: DataDir) -> list[tuple[str, str]]:
    """Return the words of this machine that no bundle may hold, each with what stands for it."""
    secrets = [(str(data.root), "DATA_DIR"), (str(Path.home()), "HOME"), (Path.home().name, "USER")]
    secrets.append((socket.gethostname(), "MACHINE"))
    for file in (data.admin_token, data.invitation):
        try:
            secrets.append((file.read_text().strip(), "(left out)"))
        except (OSError, UnicodeDecodeError):
            continue
    return secrets


def _settings(arguments: Namespace) -> Json:
    """Return the settings that differ from their defaults: numbers as they are, of texts only that they are set."""
    try:
        config = configuration(arguments)
    except DseError as error:
        return {"error": str(error)}
    return {
        key: value if isinstance(value, bool | int | float) else "(set)" for key, value in changes_of(config).items()
    }
