"""Makes new networks: their keys, their first strategy, and the file that lets nodes in.

`dse-node network new`, `dse-node init` alone, the demo, the simulator and the lab of the tests all make the same.
"""

import ipaddress
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bootstrap import load_network, new_network, split_invitation, with_invitation
from dht import (
    Identity,
    Invitation,
    Network,
    Strategy,
    StrategyHistory,
    encode_document,
    parse_address,
    sign_strategy,
    sign_voucher,
    write_secret,
)
from index import NEWEST_RULES
from node.config.data_dir import DataDir
from node.strategy.draft import DAY_S, NEXT_S, VALID_S, DraftRequest, draft

PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")  # RFC 1918, RFC 4193
LOOPBACK = ("127.0.0.0/8", "::1/128")
FORMER = {"former_last": 2, "former_days": 365}  # of a page that changes every day some forty versions
INVITED = {
    "admission": "invited",
    "min_age_days": 1,  # members of a day do not decide for older ones
    "second_look_permille": 30,  # pages of others that are fetched again, of a node's own fetches
}
PUBLISHER_KEY = ".publisher.key"  # how the name of the file of a new network's first publisher key ends
FIRST_USES, FIRST_DAYS = 10, 30  # of the invitation in a new network's file
OPEN = {
    "admission": "attested",
    "puzzle_bits": 20,  # half a second of one core for each identity, whoever makes it
    "min_age_days": 1,  # members of a day do not decide for older ones
}


def found_network(
    out: Path,
    name: str,
    bootstrap: Sequence[str] = (),
    prefixes: Sequence[str] = (),
    fields: dict[str, Any] | None = None,
    seeds: Sequence[str] = (),
    info_url: str = "",
) -> tuple[Path, Path]:
    """Write a new network's file, its two publisher keys, and the note for its founder beside it; return the paths of
    the keys. A file that holds an invitation is its owner's alone. The arguments are those of `make_network`."""
    text, keys = make_network(name, out.with_suffix(""), bootstrap, prefixes, fields, seeds, info_url)
    if split_invitation(text)[1] is None:
        out.write_text(text)
    else:
        write_secret(out, text)
    founder_note(out).write_text("The node that `dse-node init` makes with the network file beside starts alone.\n")
    return keys


def founder_note(network: Path) -> Path:
    """Return the path of the note beside a new network file that says that no node was made for it yet. The first node
    takes it away: copies of the network file, which others get, are files of a network that is there."""
    return network.with_suffix(".founder")


def adopt_founder(data: DataDir, node_id: str, network: Path) -> Path | None:
    """Make the node of a data directory the founder of the network whose new file this is. Copy the publisher key that
    lies beside the file, so that the founder can invite others; return the copy, None where there is no key. With the
    key the strategy's next version is signed, too: it names the founder to break ties."""
    key = network.with_suffix(PUBLISHER_KEY)
    copy = data.keys / key.name if key.exists() else None
    if copy is not None:
        publisher = Identity.load(key)
        publisher.save(copy)
        _name_tie_breaker(data, load_network(network), publisher, node_id)
    data.found(node_id)
    founder_note(network).unlink()
    return copy


def _name_tie_breaker(data: DataDir, network: Network, publisher: Identity, node_id: str) -> None:
    """Sign the strategy that names a node to break ties, and keep it for the node's start."""
    data.strategies.mkdir(parents=True, exist_ok=True)
    history = StrategyHistory(network, data.strategies)
    if history.newest.tie_breaker:
        return
    wishes = DraftRequest(fields={"tie_breaker": node_id})
    following = draft(history.newest, history.newest_digest, wishes, int(time.time()))
    history.adopt(sign_strategy(encode_document(following), publisher))


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
    are refused in contacts unless a prefix declares them. Prefixes of the bootstrap addresses' kind are declared in
    both families, and all private ones where there is no first contact.
    """
    files = (Path(f"{stem}{PUBLISHER_KEY}"), Path(f"{stem}.offline.key"))
    publisher, offline = Identity.generate(), Identity.generate()
    now = int(time.time())
    reach = {
        "bootstrap": tuple(bootstrap),
        "declared_prefixes": tuple(prefixes) or (_declared(bootstrap) if bootstrap or not seeds else ()),
    }
    strategy = first_strategy(now, {**reach, **(fields or {})})
    keys = (publisher.public_key.hex(), offline.public_key.hex())
    text = new_network(
        name, [publisher], strategy, publishers=keys, bootstrap=bootstrap, seeds=seeds, info_url=info_url
    )
    publisher.save(files[0])
    offline.save(files[1])
    if strategy.admission == "invited":
        text = with_invitation(text, make_invitation(publisher, load_network(text).id, FIRST_USES, FIRST_DAYS))
    return text, files


def first_strategy(now: int, fields: Mapping[str, Any]) -> Strategy:
    """Return the strategy that a new network begins with, in force from `now` on: by invitation, with grants,
    second looks and former versions of pages, unless `fields` say otherwise."""
    analyzer, ranking = NEWEST_RULES.numbers
    usual = {"min_acks": min(2, fields.get("replicas", 3)), "analyzer": analyzer, "ranking": ranking}
    usual |= {**FORMER, **INVITED}
    spans = {"effective_at": now, "expires_at": now + VALID_S, "next_at": now + NEXT_S}
    return Strategy(network="", version=1, **{**spans, **usual, **fields})


def make_invitation(
    inviter: Identity, network: str, uses: int, days: int, bearer: Invitation | None = None
) -> Invitation:
    """Sign an invitation from now on. `network`: its id, hex. `bearer`: that of words, else a new one is made."""
    seed, now = bearer.seed if bearer is not None else os.urandom(32), int(time.time())
    key = Identity(seed).public_key
    return Invitation(seed, sign_voucher(inviter, bytes.fromhex(network), key, uses, now, now + days * DAY_S))


def _declared(bootstrap: Sequence[str]) -> tuple[str, ...]:
    """List the private prefixes that a network needs to use its own bootstrap addresses, in both families of addresses.
    A node that has both is refused as a whole where one of them is not declared."""
    if not bootstrap:
        return PRIVATE
    addresses = [ipaddress.ip_address(parse_address(address).host) for address in bootstrap]
    found: list[str] = []
    for kind in (PRIVATE, LOOPBACK):
        prefixes = [ipaddress.ip_network(prefix) for prefix in kind]
        named = [prefix for prefix in prefixes if any(address in prefix for address in addresses)]
        families = {prefix.version for prefix in named}
        found += [str(each) for each in prefixes if each in named or (named and each.version not in families)]
    return tuple(found)
