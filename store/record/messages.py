"""Messages between stores.

Pure: values only. Names and field order are the wire format. Every count is bounded here; packages bound themselves
when they are opened.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from dht import Message, SignedGrant
from store.record.package import MAX_AT_MS, MAX_EPOCH, MAX_PACKAGE_BYTES, MAX_RECORD_BYTES, MAX_RECORDS
from store.record.package_part import MAX_PARTS, MOST_PART_BYTES
from store.record.range_reconciliation import FORM, Ranges
from store.record.range_session import SALT_BYTES
from store.record.record import SHORT_BYTES, Kind, ShortVersion

MAX_WANTED = 256  # records asked for in one message
# An answer stops after so many bytes of records, some seconds of a slow line when compressed, but holds at least one.
FETCH_BYTES = 1 << 20
MAX_SLOTS = 65_536
MAX_HINTED = 256  # owners for whom one package is kept
MAX_CHALLENGES = 64  # records of which bytes are asked for in one message; sixteen fit into one packet
MAX_STRETCH = 4096  # bytes of one record that are asked for: a longer stretch proves no more and is longer hashed
NONCE_BYTES, SHOWN_BYTES = 16, 16  # of a question, and of the digest that answers it
MAX_ACCUSED = 64  # slots, and records, in one word about a peer

_Part = Annotated[bytes, Meta(max_length=MOST_PART_BYTES + (4 << 10))]
_Id = Annotated[bytes, Meta(min_length=20, max_length=20)]
_Form = Annotated[int, Meta(ge=FORM, le=FORM)]
_Grants = Annotated[tuple[SignedGrant, ...], Meta(max_length=MAX_RECORDS)]


class PutPackage(Message, frozen=True, array_like=True):
    """Asks to keep these records, with their contents; it is answered when all that were not refused are durable.

    `hinted_for`: owners who do not answer the writer, and to whom the receiver, a candidate, brings the records.
    `grants`: those that the records name, each once. `parts`: packages whose records come after those of `package`."""

    package: Annotated[bytes, Meta(max_length=MAX_PACKAGE_BYTES + (64 << 10))]
    hinted_for: Annotated[tuple[_Id, ...], Meta(max_length=MAX_HINTED)] = ()
    grants: _Grants = ()
    parts: Annotated[tuple[_Part, ...], Meta(max_length=MAX_PARTS)] = ()


class RefusedRecord(msgspec.Struct, frozen=True, array_like=True):
    """Names a record that was not kept, by its index in the package, and why."""

    index: Annotated[int, Meta(ge=0, lt=MAX_RECORDS)]
    reason: Annotated[str, Meta(max_length=300)]


class PutReply(Message, frozen=True, array_like=True):
    """Says which records of a package were refused; all others, or something newer, are durable here.

    `astray`: indexes of records whose site lies elsewhere by now, as its record (kind HOST) says."""

    refused: Annotated[tuple[RefusedRecord, ...], Meta(max_length=MAX_RECORDS)] = ()
    astray: Annotated[tuple[int, ...], Meta(max_length=MAX_RECORDS)] = ()


class HeldVersion(msgspec.Struct, frozen=True, array_like=True):
    """Stands for a version as `ShortVersion` does. `key`: where it lies, empty in `Shown`."""

    epoch: Annotated[int, Meta(ge=0, lt=MAX_EPOCH)]
    at_ms: Annotated[int, Meta(ge=0, lt=MAX_AT_MS)]
    digest: Annotated[bytes, Meta(min_length=SHORT_BYTES, max_length=SHORT_BYTES)]
    key: Annotated[bytes, Meta(max_length=20)] = b""

    @property
    def version(self) -> ShortVersion:
        """The version that it stands for."""
        return ShortVersion(self.epoch, self.at_ms, self.digest)


class Wanted(msgspec.Struct, frozen=True, array_like=True):
    """Names one record."""

    kind: Kind
    id: _Id
    key: _Id


class FetchRecords(Message, frozen=True, array_like=True):
    """Asks for these records, with or without their contents."""

    in_packets = True

    wanted: Annotated[tuple[Wanted, ...], Meta(max_length=MAX_WANTED)]
    content: bool

    @property
    def is_long(self) -> bool:
        """Whether contents are asked for, too."""
        return self.content


class FetchReply(Message, frozen=True, array_like=True):
    """Brings those of the wanted records that there are. `later`: indexes that did not fit, ask again.

    `unsure`: indexes not found here in a slot that this node is not ready for, so others may have them. Whatever else
    is missing does not exist here. `grants`: those that the records name, each once, where contents were asked for.
    """

    package: Annotated[bytes, Meta(max_length=MAX_PACKAGE_BYTES + (64 << 10))]
    later: Annotated[tuple[int, ...], Meta(max_length=MAX_WANTED)] = ()
    unsure: Annotated[tuple[int, ...], Meta(max_length=MAX_WANTED)] = ()
    grants: _Grants = ()


class AskVersions(Message, frozen=True, array_like=True):
    """Asks which versions of these records lie at the peer's."""

    wanted: Annotated[tuple[Wanted, ...], Meta(max_length=MAX_RECORDS)]


class VersionsReply(Message, frozen=True, array_like=True):
    """Names the version of each record that was asked for, in order; None where there is none."""

    versions: Annotated[tuple[HeldVersion | None, ...], Meta(max_length=MAX_RECORDS)]


class ReconcileStep(Message, frozen=True, array_like=True):
    """One question of a session of range reconciliation. Only records that expire after the day `today` count.

    `salt`: of all fingerprints and marks of this session."""

    today: Annotated[int, Meta(ge=0, lt=1 << 32)]
    form: _Form
    salt: Annotated[bytes, Meta(min_length=SALT_BYTES, max_length=SALT_BYTES)]
    ranges: Ranges


class ReconcileReply(Message, frozen=True, array_like=True):
    """Answers a step; there are no ranges where all that was asked about is equal."""

    form: _Form
    ranges: Ranges


class SlotReport(Message, frozen=True, array_like=True):
    """Asks what lies in these slots at the peer's."""

    slot_bits: Annotated[int, Meta(ge=1, le=16)]
    slots: Annotated[tuple[int, ...], Meta(max_length=1024)]


class SlotState(msgspec.Struct, frozen=True, array_like=True):
    """The sums of one node's records in a slot: equal fingerprints mean equal records."""

    slot: int
    documents: int
    visits: int
    fingerprint: Annotated[bytes, Meta(max_length=32)]
    ready: bool


class SlotReportReply(Message, frozen=True, array_like=True):
    """Brings one state for each slot that was asked for, in order."""

    states: Annotated[tuple[SlotState, ...], Meta(max_length=1024)]


class Challenge(msgspec.Struct, frozen=True, array_like=True):
    """Asks for some bytes of one version of a record: of its body and the content after it, from `offset` on."""

    kind: Kind
    id: _Id
    epoch: Annotated[int, Meta(ge=0, lt=MAX_EPOCH)]
    at_ms: Annotated[int, Meta(ge=0, lt=MAX_AT_MS)]
    digest: Annotated[bytes, Meta(min_length=SHORT_BYTES, max_length=SHORT_BYTES)]
    offset: Annotated[int, Meta(ge=0, lt=MAX_RECORD_BYTES)]
    length: Annotated[int, Meta(ge=1, le=MAX_STRETCH)]

    @property
    def version(self) -> ShortVersion:
        """The version that is asked for."""
        return ShortVersion(self.epoch, self.at_ms, self.digest)


class AskPossession(Message, frozen=True, array_like=True):
    """Asks for proof that the bytes of these records lie at the peer's: a digest that only they and the nonce give."""

    in_packets = True

    nonce: Annotated[bytes, Meta(min_length=NONCE_BYTES, max_length=NONCE_BYTES)]
    challenges: Annotated[tuple[Challenge, ...], Meta(max_length=MAX_CHALLENGES)]


class Shown(msgspec.Struct, frozen=True, array_like=True):
    """Answers one challenge. `digest`: empty where that version is not here, `held` is then the one that is, if any."""

    digest: Annotated[bytes, Meta(max_length=SHOWN_BYTES)] = b""
    held: HeldVersion | None = None


class PossessionReply(Message, frozen=True, array_like=True):
    """Answers the challenges, in order. `later`: indexes that were not looked at, because it would have been too much
    at once; ask again."""

    shown: Annotated[tuple[Shown, ...], Meta(max_length=MAX_CHALLENGES)]
    later: Annotated[tuple[int, ...], Meta(max_length=MAX_CHALLENGES)] = ()


class PossessionFailed(Message, frozen=True, array_like=True):
    """Says that a peer did not show records of these slots, asked twice: to itself, and to who would keep a copy in its
    stead. `records`: some of them."""

    slot_bits: Annotated[int, Meta(ge=1, le=16)]
    peer: _Id
    slots: Annotated[tuple[int, ...], Meta(max_length=MAX_ACCUSED)]
    records: Annotated[tuple[Wanted, ...], Meta(max_length=MAX_ACCUSED)] = ()
