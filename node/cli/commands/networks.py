"""Does the verbs about network files: network new, network show; and network begin, which founds one or ends a wait."""

import sys
import time
from argparse import Namespace
from pathlib import Path

from bootstrap import load_network, split_invitation
from dht import BadStrategy, Identity, Network, Strategy, has_met_peers, parse_document
from node.cli.commands.drafts import newest_version, publisher_key
from node.cli.commands.edits import publish_signed
from node.cli.commands.invitations import invitation_facts
from node.cli.commands.output import asked_for_yes, print_facts, print_json
from node.cli.commands.target_node import client, configuration, data_dir
from node.config.data_dir import DataDir
from node.errors import BadDataDir, NothingToDo, NotRunning
from node.strategy.draft import DraftRequest, check_understood, draft
from node.strategy.founding import FIRST_DAYS, FIRST_USES, OPEN, found_network
from node.strategy.signing import own_keys
from node.views.safe_text import day, plain
from node.views.strategy import admission_words

JOINS = f"""\
Whoever has the file may join: it holds an invitation for {FIRST_USES} nodes, valid for {FIRST_DAYS} days. Keep it as
you keep a key. A node is a member once members have reached it at its own address (behind a router, by introduction).
Further invitations: `dse-node invite`."""
STRANGERS = """\
Whoever has the file may join, and may hand it on; it holds nothing secret. A stranger pays {price} for an identity,
needs an address at which members reach it, and for a day decides nothing where older members are. This does not stop
somebody who has many addresses, or machines in many networks, and waits: a day later such identities own parts of the
key space and vote there, and can leave out, forge or hold back pages of these parts until they are found out and a
strategy blocks them; then each comes back as somebody else at the same price."""

RISK = """\
This node waits for {silent}.
If one of them runs behind a broken connection, both sides crawl from now on. Then pages are fetched twice, and of two
versions of a page the newer one stays. What this node writes has one copy until they answer."""


def addresses_of(network: Network) -> list[str]:
    """Return the addresses of first contact, as people read them."""
    return [f"[{e.host}]:{e.udp_port}" if e.family == 6 else f"{e.host}:{e.udp_port}" for e in network.bootstrap]


def new(arguments: Namespace) -> int:
    """Write a network file and its two publisher keys beside it; never over a file that is there."""
    out = Path(arguments.out)
    if out.exists():
        raise BadDataDir(str(out), "is there already", "choose another --out, or move it away")
    chosen = {"replicas": arguments.replicas, "slot_bits": arguments.slot_bits, "min_acks": arguments.min_acks}
    chosen |= {"puzzle_bits": arguments.puzzle_bits}
    fields = (OPEN if arguments.open else {}) | {name: value for name, value in chosen.items() if value is not None}
    keys = found_network(
        out, arguments.name, arguments.bootstrap, arguments.prefix, fields, arguments.seed, arguments.info_url
    )
    files = {"network": str(out), "publisher_key": str(keys[0]), "offline_key": str(keys[1])}
    if arguments.json:
        print_json({**files, "id": load_network(out).id})
        return 0
    print_facts(list(files.items()))
    print("\nGive the network file to everyone who should join.")
    print("Keep the publisher key to yourself and the offline key on another medium: either signs the next strategy.")
    print(STRANGERS.format(price=f"2^{fields['puzzle_bits']} hashes") if arguments.open else JOINS)
    return 0


def begin(arguments: Namespace) -> int:
    """Have a running node go on without the silent members that it waits for, until they answer (network begin). Make a
    node that does not run, and has met nobody, the first of its network."""
    data = data_dir(arguments)
    data.check()
    try:
        node = client(arguments, needs_token=True)
        found = node.post("/api/v1/begin", {})
    except (NotRunning, BadDataDir):
        return _found(data)
    live, refusal = found["live"], plain(found["refusal"])
    if not (found["silent"] or live) and refusal:
        raise NothingToDo("network begin", "changes nothing", refusal)
    if not found["silent"]:
        others = f"{live:,} other members answer" if live != 1 else "1 other member answers"
        print(f"not needed: {others}" if live else "not needed: this node goes on alone")
        return 0
    signed = _keys_to_begin(arguments, refusal) if refusal else None
    print(RISK.format(silent=plain(found["silent"])), file=sys.stderr)
    if not arguments.yes and not sys.stdin.isatty():
        raise NothingToDo("--yes", "is missing, and there is no terminal to ask at", "read the risk, then add --yes")
    if not (arguments.yes or asked_for_yes("Go on without them?")):
        print("It waits on.")
        return 1
    if signed is not None:
        publish_signed(arguments, *signed)
    found = node.post("/api/v1/begin", {"sure": True})
    if not found["begun"]:
        raise NothingToDo("network begin", "changed nothing", plain(found["refusal"]) or "enough members answer again")
    print("it goes on without them until they answer")
    return 0


def _keys_to_begin(arguments: Namespace, refusal: str) -> tuple[Strategy, list[Identity]]:
    """Return the next strategy, which names this node to break ties, and the keys that sign it. Raise BadStrategy where
    the publisher's key is not here, or where another tie-breaker would not help."""
    newest, digest, not_understood = newest_version(arguments)
    check_understood(not_understood)
    node_id = Identity.load(data_dir(arguments).identity).node_id.hex()
    keys = [publisher_key(path) for path in arguments.key] or own_keys(data_dir(arguments).keys, newest.publishers)
    if newest.tie_breaker == node_id or len(keys) < newest.threshold:
        raise BadStrategy("begin", refusal, "add --key PUBLISHER.key, or run it where that key lies")
    return draft(newest, digest, DraftRequest({"tie_breaker": node_id}), int(time.time())), keys


def _found(data: DataDir) -> int:
    """Make a stopped node the first of its network. Refuse that to a node that has met other members: only once it runs
    it knows whether they answer."""
    node_id = Identity.load(data.identity).node_id.hex()
    with data.lock():
        if has_met_peers(data.dht):
            remedy = "start it; if it then waits for them, run `dse-node network begin` again"
            raise BadDataDir(str(data.root), "this node has met other members, so it is not the first", remedy)
        data.found(node_id)
    print(f"node {node_id} is the first of its network: it may now start without any other member")
    return 0


def show(arguments: Namespace) -> int:
    """Check a network file and print what it says."""
    file = Path(arguments.file) if arguments.file else Path(configuration(arguments).node.network)
    network = load_network(file)
    strategy = parse_document(network.first.document)
    seeds = list(network.seeds)
    if arguments.json:
        keys = {"publishers": list(network.publishers.keys), "threshold": network.publishers.threshold}
        print_json(
            {
                "name": network.name,
                "id": network.id,
                **keys,
                "bootstrap": addresses_of(network),
                "seeds": seeds,
                "info_url": network.info_url,
            }
        )
        return 0
    print_facts(
        [
            ("network", network.name),
            ("id", f"{network.id} (fits its keys)"),
            ("publishers", f"{network.publishers.threshold} of {len(network.publishers.keys)} must sign"),
            *[("", key) for key in network.publishers.keys],
            (
                "first contact",
                ", ".join([*addresses_of(network), *seeds]) or "none: other nodes must be told where this one is",
            ),
            *([("for site owners", network.info_url)] if network.info_url else []),
            ("copies", f"{strategy.replicas}, a write waits for {strategy.min_acks}"),
            ("slots", str(2**strategy.slot_bits)),
            ("members", admission_words(strategy.admission)),
            ("identities", f"puzzle of {strategy.puzzle_bits} bits, {strategy.min_age_days} days old until they vote"),
            ("first strategy", f"valid until {day(strategy.expires_at)}"),
            *invitation_facts(split_invitation(file.read_text())[1]),
        ]
    )
    return 0
