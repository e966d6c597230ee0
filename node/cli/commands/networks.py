"""Does the verbs about network files: network new, network show."""

import ipaddress
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bootstrap import load_network, new_network, split_invitation, with_invitation
from dht import Identity, Need, Strategy, parse_address, parse_document
from index import NEWEST_RULES
from node.app.strategy_draft import DAY_S, NEXT_S, VALID_S
from node.cli.commands.invitations import invitation_facts, make_invitation
from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import configuration, data_dir
from node.config.data_dir import write_secret
from node.errors import BadDataDir
from node.views.safe_text import day
from node.views.strategy import admission_words

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")  # RFC 1918, RFC 4193
LOOPBACK = ("127.0.0.0/8", "::1/128")
# older programs take everybody for a member, and so others for owners, and sign no grants
NEEDS = (Need("admission"), Need("grants"))
INVITED = {
    "admission": "invited",
    "grants_from": 1,  # every version proves its lease; from the time of making on, older ones could be made up
    "witness_permille": 30,  # pages of others that are fetched again, of a node's own fetches
    "needs": (*NEEDS, Need("invitations")),
}
FIRST_USES, FIRST_DAYS = 100, 30  # of the invitation in a new network's file
OPEN = {
    "admission": "attested",
    "needs": NEEDS,
    "puzzle_bits": 20,  # half a second of one core for each identity, whoever makes it
    "min_age_s": DAY_S,  # who came today does not decide for those who were here yesterday
}
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
    text, keys = make_network(
        arguments.name,
        out.with_suffix(""),
        arguments.bootstrap,
        arguments.prefix,
        fields,
        arguments.seed,
        arguments.info_url,
    )
    if arguments.open:
        out.write_text(text)
    else:
        write_secret(out, text)
    founder_note(out).write_text("The node that `dse-node init` makes with the network file beside starts alone.\n")
    files = {"network": str(out), "publisher_key": str(keys[0]), "offline_key": str(keys[1])}
    if arguments.json:
        print_json({**files, "id": load_network(out).id})
        return 0
    print_facts(list(files.items()))
    print("\nGive the network file to everybody who shall join.")
    print("Keep the publisher key to yourself and the offline key on another medium: either signs the next strategy.")
    print(STRANGERS.format(price=f"2^{fields['puzzle_bits']} hashes") if arguments.open else JOINS)
    return 0


def founder_note(network: Path) -> Path:
    """Return the path of the note beside a new network file that says that no node was made for it yet. The first node
    takes it away: copies of the network file, which others get, are files of a network that is there."""
    return network.with_suffix(".founder")


def begin(arguments: Namespace) -> int:
    """Note that the node is the first of its network."""
    data = data_dir(arguments)
    data.check()
    node_id = Identity.load(data.identity).node_id.hex()
    data.found(node_id)
    print(f"node {node_id} starts alone from now on, though nobody of its network answers")
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
            ("identities", f"puzzle of {strategy.puzzle_bits} bits, {strategy.min_age_s} s old until they vote"),
            ("first strategy", f"valid until {day(strategy.expires_at)}"),
            *invitation_facts(split_invitation(file.read_text())[1]),
        ]
    )
    return 0


def make_network(
    name: str,
    stem: Path,
    bootstrap: Sequence[str] = (),
    prefixes: Sequence[str] = (),
    fields: dict[str, Any] | None = None,
    seeds: Sequence[str] = (),
    info_url: str = "",
) -> tuple[str, tuple[Path, Path]]:
    """Return the text of a new network's file, and the paths of the two keys that are written beside it, at
    STEM.publisher.key and STEM.offline.key.

    Either key may sign the next strategy. Members are who was invited and whom members have reached, unless `fields` of
    the strategy say otherwise; the file of a network by invitation holds a first one. Private and loopback addresses
    are refused in contacts unless a prefix declares them: those of the bootstrap addresses are declared, all private
    ones where there is no first contact.
    """
    files = (Path(f"{stem}.publisher.key"), Path(f"{stem}.offline.key"))
    publisher, offline = Identity.generate(), Identity.generate()
    now = int(time.time())
    chosen = dict(fields or {})
    chosen.setdefault("min_acks", min(2, chosen.get("replicas", 3)))
    analyzer, ranking = NEWEST_RULES.numbers
    chosen = {"analyzer": analyzer, "ranking": ranking, **INVITED, **chosen}
    strategy = Strategy(
        network="",
        version=1,
        effective_at=now,
        expires_at=now + VALID_S,
        next_at=now + NEXT_S,
        bootstrap=tuple(bootstrap),
        declared_prefixes=tuple(prefixes) or (_declared(bootstrap) if bootstrap or not seeds else ()),
        **chosen,
    )
    keys = (publisher.public_key.hex(), offline.public_key.hex())
    text = new_network(
        name, [publisher], strategy, publishers=keys, bootstrap=bootstrap, seeds=seeds, info_url=info_url
    )
    publisher.save(files[0])
    offline.save(files[1])
    if chosen["admission"] == "invited":
        text = with_invitation(text, make_invitation(publisher, load_network(text).id, FIRST_USES, FIRST_DAYS))
    return text, files


def _declared(bootstrap: Sequence[str]) -> tuple[str, ...]:
    """List the private prefixes that a network needs to use its own bootstrap addresses."""
    if not bootstrap:
        return PRIVATE
    addresses = [ipaddress.ip_address(parse_address(address).host) for address in bootstrap]
    return tuple(
        prefix
        for prefix in (*PRIVATE, *LOOPBACK)
        if any(address in ipaddress.ip_network(prefix) for address in addresses)
    )
