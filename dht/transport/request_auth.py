"""A node proves that a request is its own by one header line, signed for one recipient.

Pure: `now` and nonces are arguments. `Authorization: DSE1 <key> <time> <nonce> <body digest> <signature>`, hex but for
the time (decimal Unix seconds). Signed are network, recipient, method, path, body digest, time and nonce. The recipient
remembers the nonces of its time window, so a request works once; when memory runs out the window closes behind the
forgotten ones, never opens.
"""

from dataclasses import dataclass
from hashlib import blake2b, sha256

from dht.clock import Now
from dht.errors import BadMessage, BadSignature
from dht.identity.node_key import Identity, node_id_of, verify
from dht.keys import NodeId

SCHEME = "DSE1"
DOMAIN = b"request"
WINDOW_S = 120.0
NONCE_BYTES = 12
MAX_NONCES = 200_000
MAX_HEADER_CHARS = 500


@dataclass(frozen=True, slots=True)
class VerifiedRequest:
    """Says what a verified header proves: who asks, and the SHA-256 that the body must have."""

    asker: NodeId
    digest: bytes


@dataclass(frozen=True, slots=True)
class RequestTarget:
    """Names the network, recipient and path of a request; a signature for one target is worth nothing at another."""

    network: str
    recipient: NodeId
    method: str
    path: str


def sign_request(identity: Identity, target: RequestTarget, body: bytes, now: Now, nonce: bytes) -> str:
    """Return the value of the Authorization header, signed for one recipient."""
    digest = sha256(body).digest()
    at = f"{now.wall:.3f}"
    signature = identity.sign(DOMAIN, _statement(target, digest, at, nonce))
    return f"{SCHEME} {identity.public_key.hex()} {at} {nonce.hex()} {digest.hex()} {signature.hex()}"


def check_window(asker: NodeId, at: float, now: Now) -> None:
    """Raise BadMessage where a request was signed at a time, by its asker's clock, that is too far from ours."""
    off_s = at - now.wall
    if not abs(off_s) <= WINDOW_S:
        raise BadMessage(asker.hex(), f"its clock and ours differ by {off_s:+.0f} s; set the clocks (NTP)")


class RequestAuthenticator:
    """Checks the headers of requests to this node, and that each is used once."""

    def __init__(self, *, max_nonces: int = MAX_NONCES) -> None:
        self._max_nonces = max_nonces
        self._seen: dict[bytes, float] = {}
        self._closed_until = 0.0

    def verify(self, header: str, target: RequestTarget, now: Now, *, once: bool = True) -> VerifiedRequest:
        """Verify a header; raises BadMessage (malformed, wrong time, replayed) or BadSignature. `once` false lets the
        same header pass again within its window (a tunnel that is opened anew)."""
        key, at, nonce, digest, signature = _fields(header)
        asker = node_id_of(key)
        check_window(asker, float(at), now)
        if not verify(DOMAIN, key, _statement(target, digest, at, nonce), signature):
            raise BadSignature(f"request from {asker.hex()}", f"not signed for {target.method} {target.path} here")
        if once:
            self._remember(asker, key, nonce, float(at), now)
        return VerifiedRequest(asker, digest)

    def _remember(self, asker: NodeId, key: bytes, nonce: bytes, at: float, now: Now) -> None:
        memory = blake2b(key + nonce, digest_size=16).digest()
        if memory in self._seen or at <= self._closed_until:
            raise BadMessage(asker.hex(), "this request was seen before; sign each one anew")
        self._seen[memory] = at
        while self._seen:
            oldest, oldest_at = next(iter(self._seen.items()))
            if oldest_at >= now.wall - WINDOW_S:
                if len(self._seen) <= self._max_nonces:
                    break
                self._closed_until = max(self._closed_until, oldest_at)
            del self._seen[oldest]


def _fields(header: str) -> tuple[bytes, str, bytes, bytes, bytes]:
    parts = header.split(" ") if len(header) <= MAX_HEADER_CHARS else []
    if len(parts) != 6 or parts[0] != SCHEME:
        raise BadMessage("", "no request signature")
    _, key_hex, at, nonce_hex, digest_hex, signature_hex = parts
    try:
        key, nonce, digest, signature = (bytes.fromhex(p) for p in (key_hex, nonce_hex, digest_hex, signature_hex))
        float(at)
    except ValueError:
        raise BadMessage("", "malformed request signature") from None
    if (len(key), len(nonce), len(digest), len(signature)) != (32, NONCE_BYTES, 32, 64):
        raise BadMessage("", "request signature with fields of wrong length")
    return key, at, nonce, digest, signature


def _statement(target: RequestTarget, digest: bytes, at: str, nonce: bytes) -> bytes:
    lines = (target.network, target.recipient.hex(), target.method, target.path, digest.hex(), at, nonce.hex())
    return "\n".join(lines).encode()
