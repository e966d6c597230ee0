"""Writes the vectors of PROTOCOL.md: `python -m tests.protocol_vectors`, in the folder of the project.

Each section of the document has some: inputs and outputs, bytes in hex. A key is named by one of the 32 equal bytes of
its secret.
"""

import json
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import msgspec
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt

from bootstrap.invitation_words import from_words
from crawl import signature
from dht import DocumentId, Identity, Key, NodeId, Now, Placement, Publishers, Slot, network_id, sign_voucher
from dht.admission.attester_order import attest_point
from dht.admission.membership_claim import mark_of
from dht.audit.evidence import evidence_points
from dht.identity.crawler_key import crawler_key_of
from dht.identity.puzzle import solve_all
from dht.leases.succession import preference
from dht.leases.voter import team_digest
from dht.ownership.failure_domains import FailureDomains
from dht.slot_set import encode_positions, encode_slots
from dht.strategy.document import SignedStrategy
from dht.transport.request_auth import RequestTarget, sign_request
from dht.wire.farewell import sign_farewell
from dht.wire.grant import DOMAIN, Grant, granted_bytes
from dht.wire.heartbeat import Heartbeat, sign_heartbeat
from dht.wire.invitation import Invitation, voucher_id
from dht.wire.packets import AskedMessage, PacketHeader, Stored, about, encode_packet
from dht.wire.value_record import sign_record
from index.asking.agreement import owners_digest
from store import Kind, Version, encode_document, sign_package
from store.record.document import Document
from store.record.messages import Challenge
from store.record.range_reconciliation import mark
from store.record.record import Draft
from store.repair.possession_audit import shown

FILE = Path(__file__).parent / "data" / "protocol-vectors.json"
A, B = Identity(b"\1" * 32), Identity(b"\2" * 32)
NETWORK = bytes(range(20))
AT = 1_700_000_000
READY = frozenset(map(Slot, (37, 41, 99)))
URL = "http://host.example:8080/path/x?q=1"
TEXT = "The quick brown fox jumps over the lazy dog, and the dog does not care about it at all."


def common() -> dict[str, Any]:
    """Return the vectors of chapter 1."""
    header = PacketHeader(b"netw", A.public_key, 7, b"digest!!")
    beat = Heartbeat(A.public_key, AT, float(AT), AT + 43_200.0, ((b"\xc0\0\2\1", 8090, 8091),), ready=b"\0\x25\3")
    asked = msgspec.msgpack.encode(AskedMessage(float(AT), "AskVersions", b"\x91\x90"))
    key = blake2b(key=A.shared_key(B.public_key), digest_size=32, person=b"dse-node sealed").digest()
    belongs = about(13, NETWORK[:4], b"transact", A.public_key)
    target = RequestTarget(NETWORK.hex(), B.node_id, "POST", "/v1/SlotReport")
    keys = tuple(sorted((A.public_key.hex(), B.public_key.hex())))
    point = Key(b"p" * 20)
    record = sign_record(A, NETWORK, key=point, sequence=AT, expires_at=AT + 3600.0, value=b"value")
    return {
        "1.2 public key and node id of 32 bytes 01": [A.public_key, A.node_id],
        "1.2 shared key of 32 bytes 01 and 32 bytes 02": A.shared_key(B.public_key),
        "1.2 signature by 01 of the message 'message' in the domain 'domain'": A.sign(b"domain", b"message"),
        "1.2 least nonce of 01 with 10 bits of work": solve_all(A.public_key, 10),
        "1.2 crawler key of 01": crawler_key_of(A.public_key),
        "1.3 slot sets of 8 slot_bits": [
            {"slots": slots, "set": encode_slots(map(Slot, slots))}
            for slots in ([], [37, 41], [*range(3, 200)], [*range(0, 256, 3)])
        ],
        "1.3 positions of slots within 37, 41 and 99, of 8 slot_bits": [
            {"slots": slots, "set": encode_positions(map(Slot, slots), READY)}
            for slots in ([], [41, 99], [37, 41, 99], [0, 38, 41, 255])
        ],
        "1.4 network id of the name '名', both keys, threshold 2": network_id("名", Publishers(keys, 2)),
        "1.4 digest of the strategy document '{}'": SignedStrategy(b"{}", ()).digest,
        "1.5 STORED, by 01 to 02": encode_packet(header, b"transact", Stored(True), A.shared_key(B.public_key), size=0),
        "1.5 small record": record,
        "1.6 heartbeat": sign_heartbeat(A, beat, NETWORK),
        "1.7 sealed question under a nonce of zeros": bytes(24) + encrypt(asked, belongs, bytes(24), key),
        "1.8 Authorization line for the body '\\x91\\x90'": sign_request(
            A, target, b"\x91\x90", Now(AT, 0.0), b"n" * 12
        ),
    }


def reading() -> dict[str, Any]:
    """Return the vectors of chapter 2."""
    members = sorted(Identity(bytes([n]) * 32).node_id for n in range(1, 40))
    document = encode_document(Document(URL, float(AT), 200, title="Title", text=TEXT, signature=signature(TEXT)))
    id, key = DocumentId(sha256(URL.encode()).digest()[:20]), Key(b"k" * 20)
    drafts = [Draft(Kind.DOCUMENT, id, key, 3, AT * 1000 + n, 20_000, document, b"<p>") for n in range(3)]
    made = sign_package(drafts, A)
    return {
        "2.2 ranking of slot 37 of 8 slot_bits among the ids of 01 … 27": Placement(members, 8, 3).ranking(Slot(37)),
        "2.2 the same where these ids in order have the steps -2, -1, 0, 1, 2 in turn": Placement(
            members, 8, 3, {member: FailureDomains(step=n % 5 - 2) for n, member in enumerate(members)}
        ).ranking(Slot(37)),
        "2.3 signature of a text": {"text": TEXT, "signature": signature(TEXT)},
        "2.3 body of a DOCUMENT": document,
        "2.3 proofs of three records with the content '<p>'": [
            {"digest": r.version.digest, "index": r.proof.index, "path": r.proof.path, "signature": r.proof.signature}
            for r in made
        ],
    }


def searching() -> dict[str, Any]:
    """Return the vectors of chapter 3; docs/rules-of-search.md has those of terms and scores."""
    owners = [(A.node_id, B.node_id), (B.node_id,)]
    return {"3.3 owners of two slots: 01 and 02, 02": owners_digest(owners, (0, 1))}


def owning() -> dict[str, Any]:
    """Return the vectors of chapter 4."""
    team = tuple(sorted(Identity(bytes([n]) * 32).node_id for n in (1, 2, 3)))
    grant = Grant(NETWORK, 8, 37, AT, A.node_id, team, AT, AT + 600)
    challenge = Challenge(Kind.VISIT, b"i" * 20, 3, 4, b"d" * 8, 2, 5)
    version = Version(3, 4, bytes(range(32)))
    record = sign_package([Draft(Kind.VISIT, DocumentId(b"i" * 20), Key(b"k" * 20), 3, 4, 20_000, b"\x92\xa1u\0")], A)[
        0
    ]
    return {
        "4.2 point and mark of 01": [attest_point(A.node_id), mark_of(A.node_id)],
        "4.4 team digest of 01, 02, 03": team_digest(team),
        "4.4 order of succession in slot 37 of 8 slot_bits": preference(Slot(37), 8, team),
        "4.4 grant to 01, and its signature by 02": [granted_bytes(grant), B.sign(DOMAIN, granted_bytes(grant))],
        "4.5 farewell of 01": msgspec.msgpack.encode(sign_farewell(A, NETWORK, AT, AT)),
        "4.7 mark of a VISIT": mark(Kind.VISIT, b"i" * 20, version.short),
        "4.7 digest that 02 shows to 01": shown(record, challenge, b"n" * 16, A.node_id, NodeId(B.node_id)),
        "4.8 points of evidence": evidence_points(NETWORK),
    }


def publishing() -> dict[str, Any]:
    """Return the vectors of chapter 5."""
    voucher = sign_voucher(A, NETWORK, B.public_key, 5, AT, AT + 86_400)
    words = "abandon " * 6 + "abandon"
    return {
        "5.2 voucher by 01 for the bearer 02, and its id": [voucher, voucher_id(voucher)],
        "5.2 invitation that 03 shows": Invitation(b"\2" * 32, voucher).show(NETWORK, Identity(b"\3" * 32).public_key),
        "5.2 seed of words": {"words": words, "seed": from_words(words, NETWORK.hex()).seed},
    }


def written() -> str:
    """Return the file's text."""
    made = {"network": NETWORK, "time": AT, "url": URL} | common() | reading() | searching() | owning() | publishing()
    lines = [f"{json.dumps(name)}: {json.dumps(value, default=bytes.hex)}" for name, value in made.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
