"""Does the verbs about network files: network new, network show."""

from argparse import Namespace
from pathlib import Path

from bootstrap import load_network, split_invitation
from dht import Identity, has_met_peers, parse_document
from node.cli.commands.invitations import invitation_facts
from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import configuration, data_dir
from node.errors import BadDataDir
from node.strategy.founding import FIRST_DAYS, FIRST_USES, OPEN, found_network
from node.views.safe_text import day
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
    print("\nGive the network file to everybody who shall join.")
    print("Keep the publisher key to yourself and the offline key on another medium: either signs the next strategy.")
    print(STRANGERS.format(price=f"2^{fields['puzzle_bits']} hashes") if arguments.open else JOINS)
    return 0


def begin(arguments: Namespace) -> int:
    """Make the node the first of its network. Refuse that to a node that has met other members: it starts with what it
    has anyway, and only a publisher can declare that the others are gone."""
    data = data_dir(arguments)
    data.check()
    node_id = Identity.load(data.identity).node_id.hex()
    with data.lock():
        if has_met_peers(data.dht):
            remedy = "start it; a publisher takes out a member that will not come back: dse-node network gone NODEID"
            raise BadDataDir(str(data.root), "this node has met other members, so it is not the first", remedy)
        data.found(node_id)
    print(f"node {node_id} is the first of its network: it starts without any other member")
    return 0


def show(arguments: Namespace) -> int:
    """Check a network file and print what it says."""
    file = Path(arguments.file) if arguments.file else Path(configuration(arguments).node.network)
    network = load_network(file)
    strategy = parse_document(network.first.document)
    seeds = list(network.seeds)
    bootstrap = [f"[{e.host}]:{e.udp_port}" if e.family == 6 else f"{e.host}:{e.udp_port}" for e in network.bootstrap]
    if arguments.json:
        keys = {"publishers": list(network.publishers.keys), "threshold": network.publishers.threshold}
        print_json(
            {
                "name": network.name,
                "id": network.id,
                **keys,
                "bootstrap": bootstrap,
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
            ("first contact", ", ".join([*bootstrap, *seeds]) or "none: other nodes must be told where this one is"),
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
