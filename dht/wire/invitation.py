"""An invitation lets nodes into a network: a voucher signed by who may invite, and the key that bears it.

Pure: values and their codec. The voucher names its network, the public half of the bearer key, how many nodes it is
for and until when. A person who has the seed of the bearer key signs the keys of their own nodes with it. So an
invitation that one node shows is of no use to any other. Its heartbeats name the voucher, so that everybody can count
who is here by it.
"""

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

import msgspec

from dht.errors import MALFORMED, BadInvitation
from dht.identity.node_key import Identity, verify
from dht.keys import KEY_BYTES, Key

MOST_USES = 1000
MOST_DAYS = 366
VOUCHER_LIMIT_BYTES = 240  # 166 … 168 as it is written today
SHOWN_LIMIT_BYTES = 400
MARK_BYTES = 8  # of a voucher's id, and of its inviter's key
INVITED_BY_BYTES = 2 * MARK_BYTES + 4 + 2  # and the second in which the voucher was made, and its uses
AHEAD_S = 120.0  # by which the clock of who made a voucher may be ahead
DAY_S = 86_400
PREFIX = "dse-invitation-1:"
ASK_AGAIN = "ask whoever invited you for another one"

_VOUCHER, _BEARER = b"voucher", b"bearer\0"


class Voucher(msgspec.Struct, frozen=True, array_like=True):
    """Says that whoever bears a key may let so many nodes into a network until an instant. Instants are Unix seconds;
    `inviter` is the public key of who signed it."""

    network: bytes
    inviter: bytes
    bearer: bytes
    uses: int
    made_at: int
    expires_at: int


class ShownInvitation(msgspec.Struct, frozen=True, array_like=True):
    """Holds what a node shows to be let in: the signed voucher, and the bearer's signature over that and its key."""

    voucher: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class OpenedInvitation:
    """A shown invitation whose signatures hold."""

    voucher: Voucher
    voucher_id: bytes  # 20 bytes

    @property
    def invited_by(self) -> bytes:
        """The mark by which the heartbeats of a node name its invitation."""
        return invited_by(self.voucher, self.voucher_id)


@dataclass(frozen=True, slots=True)
class Invitation:
    """The secret half: who has it may let nodes in. `voucher` is b"" where it lies at the bearer's point."""

    seed: bytes
    voucher: bytes = b""

    @property
    def bearer(self) -> Identity:
        """The key that bears it."""
        return Identity(self.seed)

    def show(self, network: bytes, node_key: bytes) -> bytes:
        """Return what the node with this key shows; the voucher must be there."""
        signature = self.bearer.sign(_BEARER + network, voucher_id(self.voucher) + node_key)
        return msgspec.msgpack.encode(ShownInvitation(self.voucher, signature))

    def __str__(self) -> str:
        return PREFIX + base64.urlsafe_b64encode(self.seed + self.voucher).decode()


def parse_invitation(text: str) -> Invitation:
    """Read the text of an invitation; raises BadInvitation. Whether its signer may invite is not checked here."""
    text = text.strip()
    try:
        if not text.startswith(PREFIX):
            raise ValueError
        data = base64.b64decode(text[len(PREFIX) :].encode("ascii"), altchars=b"-_", validate=True)
    except ValueError:
        raise BadInvitation("is not an invitation", f"it begins with {PREFIX!r}; {ASK_AGAIN}") from None
    if len(data) < 32 or len(data) > 32 + VOUCHER_LIMIT_BYTES:
        raise BadInvitation("is cut off, or no invitation", ASK_AGAIN)
    found = Invitation(data[:32], data[32:])
    if found.voucher and open_voucher(found.voucher).bearer != found.bearer.public_key:
        raise BadInvitation("does not fit its own key", ASK_AGAIN)
    return found


class InvitedBy(NamedTuple):
    """The invitation by which a member came in.

    `voucher`, `inviter`: the first 16 hex digits of the voucher's id and of the inviter's public key.
    `made_at`: when the voucher was made (Unix seconds).
    `uses`: the number of nodes that it is for."""

    voucher: str
    inviter: str
    made_at: int
    uses: int


def sign_voucher(inviter: Identity, network: bytes, bearer: bytes, uses: int, made_at: int, expires_at: int) -> bytes:
    """Return the signed wire form of a voucher; raises BadInvitation where a bound is broken."""
    voucher = Voucher(network, inviter.public_key, bearer, uses, made_at, expires_at)
    _check(voucher)
    body = msgspec.msgpack.encode(voucher)
    return inviter.sign(_VOUCHER, body) + body


def open_voucher(data: bytes) -> Voucher:
    """Read a voucher that its inviter signed; raises BadInvitation."""
    if len(data) > VOUCHER_LIMIT_BYTES:
        raise BadInvitation(f"has a voucher of {len(data)} bytes, {VOUCHER_LIMIT_BYTES} is the limit", ASK_AGAIN)
    try:
        voucher = msgspec.msgpack.decode(data[64:], type=Voucher)
    except MALFORMED:
        raise BadInvitation("has a voucher that does not decode", ASK_AGAIN) from None
    _check(voucher)
    if not verify(_VOUCHER, voucher.inviter, data[64:], data[:64]):
        raise BadInvitation("has a voucher that its inviter did not sign", ASK_AGAIN)
    return voucher


def voucher_id(data: bytes) -> bytes:
    """Return the id of a signed voucher, 20 bytes; a strategy revokes it by that."""
    return sha256(b"dse voucher\0" + data[64:]).digest()[:KEY_BYTES]


def open_shown(data: bytes, node_key: bytes, network: bytes) -> OpenedInvitation:
    """Read what a node shows, and check whatever neither time nor strategy can change; raises BadInvitation."""
    if len(data) > SHOWN_LIMIT_BYTES:
        raise BadInvitation(f"is {len(data)} bytes long, {SHOWN_LIMIT_BYTES} is the limit", ASK_AGAIN)
    try:
        shown = msgspec.msgpack.decode(data, type=ShownInvitation)
    except MALFORMED:
        raise BadInvitation("does not decode", ASK_AGAIN) from None
    voucher = open_voucher(shown.voucher)
    if voucher.network != network:
        raise BadInvitation(f"is for the network {voucher.network.hex()}, this is {network.hex()}", ASK_AGAIN)
    if not verify(_BEARER + network, voucher.bearer, voucher_id(shown.voucher) + node_key, shown.signature):
        raise BadInvitation("is another node's: its bearer did not sign this node's key", ASK_AGAIN)
    return OpenedInvitation(voucher, voucher_id(shown.voucher))


def invited_by(voucher: Voucher, identifier: bytes) -> bytes:
    """Return the announcement of a node's voucher in its heartbeats: the beginnings of its id and of its inviter's key,
    its time, and the number of nodes that it admits."""
    marks = identifier[:MARK_BYTES] + voucher.inviter[:MARK_BYTES]
    return marks + voucher.made_at.to_bytes(4, "big") + voucher.uses.to_bytes(2, "big")


def read_invited_by(said: bytes) -> InvitedBy:
    """Read what a node's heartbeats say of its voucher."""
    voucher, inviter = said[:MARK_BYTES].hex(), said[MARK_BYTES : 2 * MARK_BYTES].hex()
    return InvitedBy(voucher, inviter, made_at_in(said), uses_in(said))


def revoked_id(digits: str) -> str:
    """Return the id by which a strategy revokes a voucher or key with these hex digits. The first 16 are enough, since
    members announce no more of it."""
    return digits.ljust(2 * KEY_BYTES, "0") if len(digits) == 2 * MARK_BYTES else digits


def made_at_in(said: bytes) -> int:
    """Return when the voucher was made of which a heartbeat speaks."""
    return int.from_bytes(said[2 * MARK_BYTES : 2 * MARK_BYTES + 4], "big")


def uses_in(said: bytes) -> int:
    """Return how many nodes the voucher is for of which a heartbeat speaks."""
    return int.from_bytes(said[2 * MARK_BYTES + 4 :], "big")


def voucher_point(bearer: bytes) -> Key:
    """Return the point at which a voucher lies that was handed over in words."""
    return Key(sha256(b"dse invitation voucher\0" + bearer).digest()[:KEY_BYTES])


def day_text(at: float) -> str:
    """Write an instant for people, to the minute."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _check(voucher: Voucher) -> None:
    sizes = len(voucher.network), len(voucher.inviter), len(voucher.bearer)
    if sizes != (KEY_BYTES, 32, 32):
        raise BadInvitation("has a voucher with a key out of range", ASK_AGAIN)
    if not 1 <= voucher.uses <= MOST_USES:
        raise BadInvitation(f"is for {voucher.uses} nodes", f"choose 1 … {MOST_USES}")
    if not 0 < voucher.made_at < voucher.expires_at < 1 << 32:
        raise BadInvitation("ends before it begins, or out of range", "choose at least one day")
    if voucher.expires_at - voucher.made_at > MOST_DAYS * DAY_S:
        raise BadInvitation("is valid for too long", f"choose 1 … {MOST_DAYS} days")
