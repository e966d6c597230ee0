"""The store's tests share a signer, a clock that stands still, and records about made-up URLs."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from dht import Identity, Now, SignedGrant, document_id, node_id_of, placement_key, site_of, slot_of
from dht.wire.grant import DOMAIN as GRANT_DOMAIN
from dht.wire.grant import GRANT_S, Grant, granted_bytes
from store import Document, Draft, Kind, Record, RecordStore, StoreConfig, encode_document
from store.record.package import sign_package
from store.record.record_check import RecordCheck, SoundRecords
from store.segments.file_system import Disk

DAY = 20_000
WALL = DAY * 86400.0
SIGNER = Identity(bytes(32))
CONFIG = StoreConfig(reserve_bytes=0)


class NoBodyRules:
    """The rules where nobody knows the web: any URL and any visit will do."""

    def __init__(self) -> None:
        self.sound = SoundRecords()

    def url_flaw(self, url: str) -> str:
        return ""

    def visit_flaw(self, body: bytes, epoch: int, at_ms: int) -> str:
        return ""

    def domain_of(self, url: str) -> str:
        return site_of(url)


@dataclass
class StillClock:
    """Both clocks, moved by the test."""

    wall: float = WALL
    steady: float = 1000.0

    def __call__(self) -> Now:
        return Now(self.wall, self.steady)


def url(number: int, hosts: int = 7) -> str:
    return f"http://host{number % hosts}.example/page/{number}"


def draft(
    number: int,
    *,
    at: float = 0.0,
    epoch: int = 1,
    kind: Kind = Kind.DOCUMENT,
    size: int = 300,
    days: int = 30,
    hosts: int = 7,
) -> Draft:
    """A draft about URL `number`, written `at` seconds after the clock's start."""
    where = url(number, hosts)
    if kind == Kind.DOCUMENT:
        body = encode_document(Document(where, WALL + at, 200, text=f"text {number} " * 3))
    else:
        body = msgspec.msgpack.encode((where, at, "waiting"))
    content = (b"%d:%d:" % (number, at * 1000)).ljust(size, b"x") if kind == Kind.DOCUMENT else b""
    at_ms = int((WALL + at) * 1000)
    return Draft(kind, document_id(where), placement_key(where), epoch, at_ms, DAY + days, body, content)


def records(*drafts: Draft, signer: Identity = SIGNER) -> list[Record]:
    return sign_package(drafts, signer)


def random_draft(number: int, size: int) -> Draft:
    """A document whose content does not compress."""
    base = draft(number)
    return Draft(base.kind, base.id, base.key, base.epoch, base.at_ms, base.expires_day, base.body, os.urandom(size))


def open_store(disk: Disk, config: StoreConfig = CONFIG) -> RecordStore:
    return RecordStore(disk, config, StillClock())


class AnyPlaces:
    """The `SiteShards` of who takes a record at whatever depth its site may be spread."""

    def doubt(self, url: str, key: bytes) -> None:
        return


CHECK = RecordCheck(NoBodyRules(), AnyPlaces())  # type: ignore[arg-type]


def flaws(made: Sequence[Record]) -> list[str]:
    """Return the flaws of records, "" for a sound one; any URL and any visit will do."""
    return [flaw.reason for flaw in CHECK.flaws(made)]


def grant(
    of: Draft, *voters: Identity, bits: int = 4, team: Sequence[Identity] = (), network: bytes = bytes(20)
) -> SignedGrant:
    """The grant under which the first voter wrote a draft, signed by all of them; `team`: these and others."""
    begin = of.at_ms // 1000
    members = tuple(sorted(voter.node_id for voter in {*voters, *team}))
    made = Grant(network, bits, slot_of(of.key, bits), of.epoch, voters[0].node_id, members, begin, begin + GRANT_S)
    return SignedGrant(made, tuple((v.public_key, v.sign(GRANT_DOMAIN, granted_bytes(made))) for v in voters))


def proofs(store: RecordStore, made: Sequence[Record]) -> tuple[SignedGrant, ...]:
    """The grants here that some records may have been written under, each once."""
    found = [
        store.grants.covering(node_id_of(r.proof.author), r.signed_key, r.version.epoch, r.version.at_ms) for r in made
    ]
    return tuple(dict.fromkeys(grant for grants in found for grant in grants))
