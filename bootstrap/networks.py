"""Reads and writes the network file, a small TOML file that makes a node a member of one network and no other.

```
name = "demo"
id = "…40 hex digits, certified by the three fields around it…"
threshold = 1
publishers = ["…Ed25519 public key, hex…"]
bootstrap = ["127.0.0.1:8091", "[::1]:8091"]
seeds = ["dse.example.edu:8091"]
info_url = "https://dse.example.edu/bot"
strategy = '''{"document": {…}, "signatures": […]}'''
invitation = "dse-invitation-1:…"
```

Lists whom a node that starts asks to let it in.

The order is: the peers of an earlier run (the overlay's own cache, read when it is opened), the network file's
addresses, the addresses in the strategy in force. While nobody answers, the overlay keeps trying all of them at growing
intervals. Bootstrap nodes are introductions and nothing more: a node that has ever joined does not need them.

Resolves DNS names of first contacts, such as `dse.example.edu:8091`, which may move to another machine.

The names stand in the network file beside the literal addresses and are no part of the network's id. The addresses
behind a name are a stranger's word, so a node that joins leaves out addresses that the network does not allow.
"""

import asyncio
import difflib
import re
import socket
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dht import (
    MAX_LISTED,
    Address,
    BadInvitation,
    BadStrategy,
    Endpoint,
    Identity,
    Invitation,
    Network,
    Publishers,
    SignedStrategy,
    Strategy,
    absolute_name,
    check_network,
    check_publishers,
    decode_signed,
    encode_document,
    encode_signed,
    network_id,
    parse_address,
    parse_invitation,
    sign_strategy,
)

LOOK_UP_S = 10.0
MAX_ADDRESSES = 16  # of one name
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
NAME = re.compile(rf"(?=.{{1,253}}:)({_LABEL}(?:\.{_LABEL})*):([0-9]{{1,5}})", re.IGNORECASE)


def parse_name(text: str) -> tuple[str, int]:
    """Split NAME:PORT into name and port; raises BadStrategy for anything else, a literal address included."""
    found = NAME.fullmatch(text)
    if found is None or not 0 < int(found[2]) < 65536 or found[1].replace(".", "").isdigit():
        reason = f"{text[:80]!r} is not a name with a port"
        raise BadStrategy("seeds", reason, "write NAME:PORT, such as dse.example.edu:8091; addresses go to bootstrap")
    return found[1], int(found[2])


async def look_up(seed: str) -> tuple[Address, ...]:
    """Return the addresses that a seed's name has now, for UDP; none where they cannot be found."""
    name, port = parse_name(seed)
    try:
        async with asyncio.timeout(LOOK_UP_S):
            found = await asyncio.get_running_loop().getaddrinfo(absolute_name(name), port, type=socket.SOCK_DGRAM)
    except (OSError, TimeoutError, UnicodeError):
        return ()
    hosts = (str(address[0]) for family, _, _, _, address in found if family in (socket.AF_INET, socket.AF_INET6))
    return tuple(dict.fromkeys(Address(host, port) for host in hosts if "%" not in host))[:MAX_ADDRESSES]


MAX_FILE_BYTES = 1 << 20
MAX_DOTS = 4_000  # in a line: a key of so many parts takes the reader of TOML a second, and ten times as many a hundred
MAX_SEEDS = 16
MAX_INFO_CHARS = 200
_WARNING = "# An invitation: who has it may join. Keep it as you keep a key.\n"
_INVITATION = re.compile(f"^(?:{re.escape(_WARNING)})?invitation[ \\t]*=.*\n?", re.M)


class _NetworkFile(msgspec.Struct):
    name: str
    id: str
    publishers: tuple[str, ...]
    strategy: str
    threshold: int = 1
    bootstrap: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    info_url: str = ""
    invitation: str = ""


def load_network(source: Path | str) -> Network:
    """Read and check a network file, given its path or its text. Raises BadStrategy: field, reason, remedy."""
    if isinstance(source, str):
        return _parsed(source.removeprefix("\ufeff"))
    text = _read(source)
    try:
        return _parsed(text)
    except BadStrategy as error:
        raise BadStrategy(f"{source}: {error.field}", error.reason, error.remedy) from None


def split_invitation(text: str) -> tuple[str, Invitation | None]:
    """Return the text of a checked network file without the invitation in it, and that; raises BadInvitation."""
    plain = _INVITATION.sub("", text)
    found = msgspec.toml.decode(text, type=_NetworkFile).invitation
    if not found:
        return plain, None
    if msgspec.toml.decode(plain, type=_NetworkFile).invitation:
        raise BadInvitation("stands in no line of its own in the network file", "write it as `network new` does")
    return plain, parse_invitation(found)


def with_invitation(text: str, invitation: Invitation) -> str:
    """Return the text of a network file that lets its holder's node into the network."""
    plain, _ = split_invitation(text)
    return f"{plain}{_WARNING}invitation = {_quoted(str(invitation))}\n"


def _parsed(text: str) -> Network:
    if sum(line.count(".") ** 2 for line in text.split("\n")) > MAX_DOTS**2:
        raise BadStrategy("network file", f"has more than {MAX_DOTS} dots in a line", "it is not a network file")
    try:
        fields = msgspec.toml.decode(text, type=dict[str, Any])
        _check_names(fields)
        file = msgspec.convert(fields, _NetworkFile)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise BadStrategy("network file", str(error), "it needs name, id, publishers and strategy") from None
    if len(file.seeds) > MAX_SEEDS:
        raise BadStrategy("seeds", f"has {len(file.seeds)} entries", f"at most {MAX_SEEDS}")
    for seed in file.seeds:
        parse_name(seed)
    if len(file.bootstrap) > MAX_LISTED:
        raise BadStrategy("bootstrap", f"has {len(file.bootstrap)} entries", f"at most {MAX_LISTED}")
    _check_info_url(file.info_url)
    contacts = tuple(parse_address(address) for address in file.bootstrap)
    publishers = Publishers(file.publishers, file.threshold)
    first = decode_signed(file.strategy.strip().encode())
    return check_network(Network(file.name, file.id, publishers, contacts, first, file.seeds, file.info_url))


def _check_names(fields: Iterable[str]) -> None:
    """Pass over keys of a newer version, but not a known one that is misspelt."""
    known = _NetworkFile.__struct_fields__
    for name in fields:
        if name not in known and (near := difflib.get_close_matches(name, known, n=1)):
            raise BadStrategy(name[:80], "is not a key of a network file", f"did you mean {near[0]}?")


def new_network(
    name: str,
    signers: Sequence[Identity],
    strategy: Strategy,
    *,
    publishers: Sequence[str] | None = None,
    threshold: int = 1,
    bootstrap: Sequence[str] = (),
    seeds: Sequence[str] = (),
    info_url: str = "",
) -> str:
    """Return the text of a new network's file. `publishers` (hex) defaults to the signers' own keys.

    `strategy` gives every field of version 1 but network, version, previous, publishers and threshold, which are
    filled in here. At least `threshold` of the publishers must be among the signers.
    """
    keys = tuple(publishers if publishers is not None else (signer.public_key.hex() for signer in signers))
    trusted = Publishers(keys, threshold)
    check_publishers(trusted)
    identifier = network_id(name, trusted)
    first = msgspec.structs.replace(
        strategy, network=identifier, version=1, previous="", publishers=keys, threshold=threshold
    )
    signed = sign_strategy(encode_document(first), *signers)
    endpoints = tuple(parse_address(address) for address in bootstrap)
    for seed in seeds:
        parse_name(seed)
    _check_info_url(info_url)
    made = Network(name, identifier, trusted, endpoints, signed, tuple(seeds), info_url)
    return format_network(check_network(made))


def format_network(network: Network) -> str:
    """Write a network as the text of its file."""
    lines = [
        "# A network of dse-node, for whoever should join. Nothing in it is secret but an invitation, if it holds one.",
        "# The id certifies name, publishers and threshold; only bootstrap, seeds and info_url may be edited.",
        f"name = {_quoted(network.name)}",
        f"id = {_quoted(network.id)}",
        f"threshold = {network.publishers.threshold}",
        f"publishers = {_list(network.publishers.keys)}",
        f"bootstrap = {_list([address_text(endpoint) for endpoint in network.bootstrap])}",
        *([f"seeds = {_list(network.seeds)}"] if network.seeds else []),
        *([f"info_url = {_quoted(network.info_url)}"] if network.info_url else []),
        f"strategy = {_literal(network.first)}",
    ]
    return "\n".join(lines) + "\n"


def address_text(endpoint: Endpoint) -> str:
    """Write an endpoint's address as the network file does: IP:PORT or [IPv6]:PORT."""
    return f"[{endpoint.host}]:{endpoint.udp_port}" if endpoint.family == 6 else f"{endpoint.host}:{endpoint.udp_port}"


def _check_info_url(url: str) -> None:
    """Raise BadStrategy for a URL that is not fit to be part of a header field of every request."""
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(' ()"<>\\') and len(url) <= MAX_INFO_CHARS
    if url and not (is_plain and url.startswith(("https://", "http://"))):
        raise BadStrategy("info_url", f"is {url[:80]!r}", "write an http or https address, at most 200 characters")


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise BadStrategy(str(path), f"longer than {MAX_FILE_BYTES} bytes", "it is not a network file")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise BadStrategy(str(path), error.strerror or str(error), "give the path of a network file") from None
    except UnicodeDecodeError:
        raise BadStrategy(str(path), "is not UTF-8 text", "give the path of a network file") from None


def _quoted(text: str) -> str:
    """Write a TOML basic string; JSON's escapes are a subset of TOML's."""
    return msgspec.json.encode(text).decode()


def _list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(_quoted(text) for text in texts) + "]"


def _literal(signed: SignedStrategy) -> str:
    """Write a multi-line literal where TOML allows it (readable, byte for byte), else an escaped string."""
    text = encode_signed(signed).decode()
    if "'''" in text or "\r" in text or not all(c.isprintable() or c in "\n\t" for c in text):
        return _quoted(text)
    return f"'''\n{text}'''"


def first_contacts(network: Network, strategy: Strategy, *, extra: Iterable[Endpoint] = ()) -> tuple[Address, ...]:
    """Return the addresses for first contact, best first, each once. `extra`: what the operator names, before all."""
    listed = (parse_address(address) for address in strategy.bootstrap)
    ordered = [endpoint.udp for endpoint in (*extra, *network.bootstrap, *listed)]
    return tuple(dict.fromkeys(ordered))
