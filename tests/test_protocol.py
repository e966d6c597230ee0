"""PROTOCOL.md's formulas, written again from its words alone, give what the code gives; its tables are the code's."""

import json
import re
from collections.abc import Iterator
from hashlib import blake2b, sha256
from math import log2
from pathlib import Path

import msgspec
import pytest
from nacl.bindings import crypto_scalarmult, crypto_sign_ed25519_pk_to_curve25519, crypto_sign_ed25519_sk_to_curve25519
from nacl.signing import SigningKey, VerifyKey

import node.process.run_node  # noqa: F401  imports every package, and so every message
from crawl import Visit
from dht import (
    DocumentId,
    Identity,
    Key,
    Now,
    Placement,
    Publishers,
    Slot,
    document_id,
    network_id,
    placement_key,
    slot_start,
)
from dht.audit.evidence import Evidence
from dht.leases.succession import preference
from dht.leases.voter import team_digest
from dht.messages import Claim, LeaseRequest, Message
from dht.ownership.failure_domains import FailureDomains
from dht.strategy.document import SignedStrategy
from dht.transport.peer_link import LinkFrame
from dht.transport.request_auth import RequestTarget, sign_request
from dht.wire import packets
from dht.wire.grant import SignedGrant
from dht.wire.heartbeat import Heartbeat
from dht.wire.invitation import ShownInvitation, Voucher
from dht.wire.packets import PacketHeader, Ping, Stored, decode_body, decode_packet, encode_packet, is_from
from dht.wire.value_record import ValueRecord
from store import Kind, Version
from store.record import package
from store.record.document import Document
from store.record.host_record import HostRecord
from store.record.messages import ReconcileStep
from store.record.range_reconciliation import FORM, RangeMode, Ranges, item, mark
from store.record.signed_head import SignedHead
from tests import protocol_vectors
from tests.protocol_tables import rows_of, structs_in
from tests.store.support import draft, records

DOCUMENT = (Path(__file__).parents[1] / "PROTOCOL.md").read_text()
A, B = Identity(b"\1" * 32), Identity(b"\2" * 32)
URL = "http://host.example:8080/path/x?q=1"
INVITING = (Voucher, ShownInvitation)


def messages(base: type[Message] = Message) -> Iterator[type[Message]]:
    for message in base.__subclasses__():
        if message.__module__.split(".")[0] in ("dht", "store", "index", "node"):  # not a test's own
            yield message
        yield from messages(message)


def tables() -> dict[str, list[tuple[str, ...]]]:
    """The rows of each table of PROTOCOL.md that describes a struct, by the struct's name."""
    found = {}
    for name, rows in re.findall(r"^\| `(\w+)` \| type \| bytes \| bound \|\n\|[-|]+\|\n((?:\|.*\n)+)", DOCUMENT, re.M):
        found[name] = [tuple(cell.strip() for cell in row.strip("|").split(" | ")) for row in rows.splitlines()]
    return found


def worked_example(name: str) -> bytes:
    """The bytes of the hex lines that follow the worked example in whose words a name stands."""
    for part in DOCUMENT.split("**Worked example.**")[1:]:
        words, lines = part.split("\n\n")[:2]
        if name in words:
            return bytes.fromhex("".join(line.split()[0] for line in lines.splitlines()))
    raise AssertionError(f"no worked example of {name}")


def test_the_vectors_are_the_codes_and_each_belongs_to_a_section() -> None:
    text = protocol_vectors.FILE.read_text("utf-8")
    assert text == protocol_vectors.written(), "python -m tests.protocol_vectors writes it anew"
    sections = {name.split()[0] for name in json.loads(text)} - {"network", "time", "url"}
    assert {section for section in sections if not re.search(rf"^### {section} ", DOCUMENT, re.M)} == set()
    assert {section[0] for section in sections} == set("12345")


def h(data: bytes) -> bytes:
    return sha256(data).digest()


def check(key: bytes, domain: bytes, message: bytes, signature: bytes) -> None:
    VerifyKey(key).verify(b"dse-node 1\0" + bytes([len(domain)]) + domain + message, signature)


def shared() -> bytes:
    secret = SigningKey(b"\1" * 32)._signing_key
    point = crypto_sign_ed25519_pk_to_curve25519(B.public_key)
    s = crypto_scalarmult(crypto_sign_ed25519_sk_to_curve25519(secret), point)
    both = min(A.public_key, B.public_key) + max(A.public_key, B.public_key)
    return blake2b(both, key=s, digest_size=32, person=b"dse-node shared").digest()


def test_each_message_has_a_table_and_each_table_is_the_codes() -> None:
    found, named = tables(), {m.__name__: m for m in messages()}
    assert named.keys() - found.keys() == {m.__name__ for m in messages() if not m.__struct_fields__}
    structs = named | {"PackageRecord": package._Wire}
    for root in (
        *named.values(),
        *packets._BODIES,
        Heartbeat,
        ValueRecord,
        LinkFrame,
        SignedGrant,
        Evidence,
        SignedHead,
        Document,
        Visit,
        HostRecord,
        *INVITING,
    ):
        structs |= {struct.__name__: struct for struct in structs_in(root)}
    assert found.keys() <= structs.keys()
    for name, rows in found.items():
        expected = rows_of(structs[name])
        assert [row[:2] for row in rows] == [row[:2] for row in expected], name
        if name in named:
            assert [row[2] for row in rows] == [row[2] for row in expected], name
        assert all(row[3] for row in rows), f"{name}: each field says its bound"


def test_each_message_is_named_once_among_questions_and_answers() -> None:
    section = DOCUMENT.split("### 1.9 ")[1].split("### 1.10 ")[0]
    rows = [row for row in section.splitlines() if row.startswith("| `")]
    named = set(re.findall(r"`(\w+)`", " ".join(rows)))
    parts = {"Claim", "Vote"}  # of others
    assert named == {message.__name__ for message in messages()} - parts
    for row in rows:
        questions, answers, chapter = (cell.split(", ") for cell in row.strip("| ").split(" | "))
        assert len(questions) == len(answers) or answers == ["`Done`"], row
        assert all(re.search(rf"^##+ {each}[. ]", DOCUMENT, re.M) for each in chapter), row


def test_no_line_but_a_tables_row_is_longer_than_100_columns() -> None:
    assert [line for line in DOCUMENT.splitlines() if len(line) > 100 and not line.startswith("|")] == []


def test_the_worked_examples_decode() -> None:
    packet = decode_packet(worked_example("STORED"))
    assert packet is not None and is_from(packet, shared())
    assert (packet.kind, packet.network, packet.transaction) == (packets.PacketKind.STORED, b"netw", b"transact")
    assert (packet.public_key, packet.strategy_version, packet.strategy_digest) == (A.public_key, 7, b"digest!!")
    assert decode_body(packet) == Stored(True)
    request = msgspec.msgpack.decode(worked_example("LeaseRequest"), type=LeaseRequest)
    assert request == LeaseRequest(8, (Claim(37, 1_700_000_000, b"team1234", False),))
    assert msgspec.msgpack.encode(request) == worked_example("LeaseRequest")


def test_identity_keys_and_ids() -> None:
    assert A.node_id == h(A.public_key)[:20]
    assert A.shared_key(B.public_key) == B.shared_key(A.public_key) == shared()
    assert document_id(URL) == h(URL.encode())[:20]
    assert placement_key(URL) == h(b"site\0host.example:8080")[:10] + h(b"path\0/path/x?q=1")[:10]


def test_datagrams() -> None:
    ping = Ping(0, 9, b"", ())
    data = encode_packet(PacketHeader(b"netw", A.public_key, 7, b"digest!!"), b"transact", ping, shared(), size=1232)
    body = msgspec.msgpack.encode([0, 9, b"", [], b""])
    head = (
        b"\1\1netw" + b"transact" + A.public_key + (7).to_bytes(4, "big") + b"digest!!" + len(body).to_bytes(2, "big")
    )
    unsigned = (head + body).ljust(1232 - 16, b"\0")
    assert len(head) == 60
    assert data == unsigned + blake2b(unsigned, key=shared(), digest_size=16, person=b"dse-node packet").digest()


def test_owners_and_leases() -> None:
    members = sorted(Identity(bytes([n]) * 32).node_id for n in range(1, 40))
    start = slot_start(Slot(37), 8)
    assert start == bytes([37]) + bytes(19)
    nearest = sorted(members, key=lambda m: int.from_bytes(m, "big") ^ int.from_bytes(start, "big"))[:16]
    weight = {m: blake2b(m + start, digest_size=8, person=b"dse-node owners").digest() + m for m in nearest}
    ranking = sorted(nearest, key=lambda m: weight[m], reverse=True)
    assert Placement(members, 8, 3).owners(Slot(37)) == tuple(ranking[:3])
    steps = {m: n % 5 - 2 for n, m in enumerate(members)}
    scaled = {m: -log2((int.from_bytes(w[:8], "big") + 0.5) / 2**64) * 2 ** (2 - steps[m]) for m, w in weight.items()}
    domains = {m: FailureDomains(step=step) for m, step in steps.items()}
    assert Placement(members, 8, 3, domains).ranking(Slot(37)) == tuple(sorted(nearest, key=scaled.__getitem__))
    order = sorted(ranking[:3], key=lambda m: blake2b(m + start, digest_size=8, person=b"lease").digest())
    assert preference(Slot(37), 8, ranking[:3]) == order
    assert team_digest(tuple(ranking[:3])) == blake2b(b"".join(sorted(ranking[:3])), digest_size=8).digest()


def test_requests_networks_and_strategies() -> None:
    line = sign_request(A, RequestTarget("ab" * 20, B.node_id, "POST", "/v1/Name"), b"body", Now(1.5, 0.0), b"n" * 12)
    scheme, key, at, nonce, digest, signature = line.split(" ")
    assert (scheme, at, bytes.fromhex(digest)) == ("DSE1", "1.500", h(b"body"))
    lines = ["ab" * 20, B.node_id.hex(), "POST", "/v1/Name", digest, at, nonce]
    check(bytes.fromhex(key), b"request", "\n".join(lines).encode(), bytes.fromhex(signature))
    keys = sorted((A.public_key.hex(), B.public_key.hex()))
    text = json.dumps(["名", keys, 2], separators=(",", ":"), ensure_ascii=False)
    assert network_id("名", Publishers(tuple(reversed(keys)), 2)) == h(b"dse network\0" + text.encode())[:20].hex()
    assert SignedStrategy(b"{}", ()).digest == h(b"dse strategy\0{}").hex()


def test_records_and_their_proofs() -> None:
    made = records(*(draft(n) for n in range(5)), signer=A)
    for r in made:
        assert r.version.digest == h(h(r.body) + h(r.content or b""))
        fields = (
            bytes([r.kind]) + r.id + r.key + r.version.epoch.to_bytes(8, "big") + r.version.at_ms.to_bytes(8, "big")
        )
        node = h(b"\0" + fields + r.expires_day.to_bytes(4, "big") + r.version.digest)
        for level, sibling in enumerate(r.proof.path):
            node = h(b"\1" + (sibling + node if r.proof.index >> level & 1 else node + sibling))
        check(A.public_key, b"dse-node package root 1", node, r.proof.signature)
    version = Version(3, 4, bytes(range(32)))
    wanted = h(b"\2" + bytes(20) + (3).to_bytes(8, "big") + (4).to_bytes(8, "big") + bytes(range(8)))
    assert mark(Kind.VISIT, Key(bytes(20)), version.short) == wanted
    place = b"k" * 20 + b"\2" + b"i" * 20
    entry = item(Kind.VISIT, DocumentId(b"i" * 20), Key(b"k" * 20), version.short).entry
    ranges = Ranges((b"\xff" * 42,), bytes([RangeMode.LIST]), entries=(entry,))
    step = ReconcileStep(20_000, FORM, b"s" * 16, ranges)
    said = [[b"\xff" * 42], b"\3", b"", [], [[place, 3, 4, bytes(range(8))]]]
    as_array = [20_000, 1, b"s" * 16, said]
    assert msgspec.msgpack.encode(step) == msgspec.msgpack.encode(as_array)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(as_array), type=ReconcileStep) == step
    for other in (as_array[:3], [20_000, 2, *as_array[2:]]):
        with pytest.raises(msgspec.ValidationError):
            msgspec.msgpack.decode(msgspec.msgpack.encode(other), type=ReconcileStep)
