"""Does the verbs that need no running node: init, identity show, paths, version."""

import sys
import tomllib
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bootstrap import is_url, load_network, split_invitation
from dht import Identity, PuzzleFile, parse_document, solve_all, work_of
from node.cli.commands.output import ask, is_terminal, print_facts, print_json
from node.cli.commands.target_node import data_dir, run_command
from node.cli.first_questions import costs_here, first_answers
from node.config.data_dir import FIRST_DEPTH, DataDir
from node.config.first_answers import FirstAnswers, site_named
from node.config.settings import Config
from node.config.toml_reader import keys_of, parse_config
from node.config.toml_writer import explain_keys, toml_value, write_config
from node.errors import BadDataDir, ConfigError
from node.joining.given_network import given_network, invitation_for
from node.strategy.founding import adopt_founder, founder_note, make_network
from node.version import VERSION

GB = 1_000_000_000
UNINVITED = """\
This network needs an invitation, and the network file contains none. Until it has one, this node can search, but stores
nothing for others. Ask a member for one, then run: dse-node accept FILE, or dse-node accept WORD WORD …"""
PROFILES: dict[str, dict[str, Any]] = {
    "guest": {"node.mode": "client", "store.quota_bytes": 5 * GB, "crawl.max_open_fetches": 8, "dht.stable": False},
    "server": {},
    "campus": {"store.quota_bytes": 200 * GB, "crawl.max_open_fetches": 1024},
}


def init(arguments: Namespace) -> int:
    """Make a node, and say what comes next."""
    data, site = make_node(arguments)
    _print_made(arguments, data, Identity.load(data.identity), site)
    return 0


def make_node(arguments: Namespace) -> tuple[DataDir, str]:
    """Make a node: directory, identity, network file, configuration, in that order; the configuration makes it one.
    Return its directory and the site that it crawls first. `arguments`: those of `init`."""
    data = data_dir(arguments)
    if data.config.exists():
        raise BadDataDir(str(data.root), "there is a node here already", "start it: `dse-node run`")
    data.check_vacant()
    answers = _answers(arguments, data)
    site = site_named(arguments.site, "--site") or answers.site
    given: str = arguments.network or answers.network
    network = given_network(given) if given else None
    if network and is_url(given):
        found = load_network(network)
        print(f"the network there: {found.name}, id {found.id}", file=sys.stderr)
    invitation = invitation_for(network, arguments.invitation or answers.invitation) if network is not None else None
    pairs = [f"node.seed_url={given}"] if is_url(given) else []
    settings = chosen_settings(arguments.profile, [*pairs, *answers.settings, *arguments.set])
    if settings.get("node.mode") == "client" and not given:
        raise ConfigError("node.mode", "is client, which needs a network", "give --network FILE")
    data.create()
    identity = ensure_identity(data)
    if network is None:
        breaks_ties = {"tie_breaker": identity.node_id.hex()}
        network, keys = make_network(arguments.name, data.keys / arguments.name, fields=breaks_ties)
        print(f"made a private network; its publisher keys: {', '.join(str(key) for key in keys)}", file=sys.stderr)
        print("keep the offline key on another medium; either key signs the network's strategy", file=sys.stderr)
        data.found(identity.node_id.hex())
        network, invitation = split_invitation(network)
        if not (arguments.yes or arguments.json or is_terminal()):
            data.welcome.touch()
    elif not is_url(given) and settings.get("node.mode") != "client" and founder_note(Path(given)).exists():
        key = adopt_founder(data, identity.node_id.hex(), Path(given))
        if key is not None:
            print(f"this node founds its network; its copy of the publisher key: {key}", file=sys.stderr)
    data.network.write_text(split_invitation(network)[0])
    if invitation is not None:
        data.invite(str(invitation))
    solve_puzzle(data, identity)
    data.config.write_text(write_config(Config, settings))
    if site:
        data.first_site.write_text(f"{site}\n")
    if invitation is None and settings.get("node.mode") != "client" and asks_invitations(network):
        print(UNINVITED, file=sys.stderr)
    return data, site


def _answers(arguments: Namespace, data: DataDir) -> FirstAnswers:
    """Ask a person at a terminal what the command line left open, before anything is written."""
    if arguments.yes or arguments.json or not is_terminal():
        return FirstAnswers()
    print(f"This makes a node in {data.root}. Press Enter for the value in brackets, Ctrl-C to stop.")
    is_open = arguments.profile == "server" and not arguments.set
    costs = costs_here(data.root) if is_open else ""
    check = None if arguments.network else lambda name, words: invitation_for(given_network(name), words)
    return first_answers(ask, costs, check_network=check, needs_limits=is_open, needs_site=not arguments.site)


def asks_invitations(network: str) -> bool:
    return parse_document(load_network(network).first.document).admission == "invited"


def chosen_settings(profile: str, pairs: Sequence[str]) -> dict[str, Any]:
    """Return the profile's settings and over them the pairs KEY=VALUE; raises ConfigError as for such a config.toml."""
    known = set(keys_of(Config))
    settings = {key: value for key, value in PROFILES[profile].items() if key in known}
    lines = dict[str, str]()  # what `--set` says of each key, as config.toml would
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise ConfigError(f"--set {pair}", "has no value", "write KEY=VALUE, such as node.web_port=8190")
        settings[key.strip()] = value = _value(text.strip())
        lines[key.strip()] = f"{key} = {toml_value(value)}\n"
    parse_config("".join(lines.values()), f"--set {' --set '.join(pairs)}", Config)  # some fit each other alone
    return settings


def _value(text: str) -> Any:
    """Read a value as TOML; what is none is a text without its quotation marks, as shells leave it."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def ensure_identity(data: DataDir) -> Identity:
    """Return the node's identity; make one where there is none. Raises BadDataDir where it was lost."""
    data.check_identity()
    if data.identity.exists():
        return Identity.load(data.identity)
    identity = Identity.generate()
    identity.save(data.identity)
    return identity


def solve_puzzle(data: DataDir, identity: Identity) -> None:
    """Do the work that the network asks of an identity, once; say so in one line, since it may take minutes."""
    bits, file = parse_document(load_network(data.network).first.document).puzzle_bits, PuzzleFile(data.puzzle)
    if work_of(identity.public_key, file.load()) < bits:
        print(f"solving the identity's puzzle of {bits} bits ...", end=" ", file=sys.stderr, flush=True)
        file.save(solve_all(identity.public_key, bits))
        print("done", file=sys.stderr)


def identity_show(arguments: Namespace) -> int:
    """Print the public half of the identity."""
    identity = Identity.load(data_dir(arguments).identity)
    facts = {"node_id": identity.node_id.hex(), "public_key": identity.public_key.hex()}
    if arguments.json:
        print_json(facts)
    else:
        print_facts(list(facts.items()))
    return 0


def paths(arguments: Namespace) -> int:
    """Print where everything lies, or with --keys what can be set."""
    if arguments.keys:
        rows = [{"key": key, "default": default, "about": about} for key, default, about in explain_keys(Config)]
        if arguments.json:
            print_json(rows)
        else:
            print_facts([(f"{row['key']} = {row['default']}", row["about"]) for row in rows])
        return 0
    data = data_dir(arguments)
    parts = ("root", "config", "network", "identity", "admin_token", "keys", "dht", "store", "index")
    found = {part: str(getattr(data, part)) for part in parts}
    if arguments.json:
        print_json(found)
    else:
        print_facts([(part, path + ("" if Path(path).exists() else "  (not there)")) for part, path in found.items()])
    return 0


def version(arguments: Namespace) -> int:
    """Print the version of this program."""
    if arguments.json:
        print_json({"version": VERSION})
    else:
        print(f"dse-node {VERSION}")
    return 0


def _print_made(arguments: Namespace, data: DataDir, identity: Identity, site: str) -> None:
    if arguments.json:
        print_json({"node_id": identity.node_id.hex(), "data_dir": str(data.root), "config": str(data.config)})
        return
    print(f"made node {identity.node_id.hex()} in {data.root}")
    print(f"settings: {data.config}\nstart it: {run_command(arguments)}")
    if site:
        print(f"it then crawls {site}, {FIRST_DEPTH} links deep within that host")
