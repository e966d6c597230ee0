"""Nodes prove their keys by TLS certificates that they sign themselves, without authorities.

A node's certificate is self-signed and carries its Ed25519 key. A client computes the node id of that key, and leaves
before the first byte of a request if it is not the expected one. TLS 1.3 only. This file wraps `cryptography` and
`ssl`; the check is called by aiohttp's connector right after every handshake, through a proxy too.
"""

import asyncio
import datetime
import ssl
import tempfile
from pathlib import Path

from aiohttp import Fingerprint, ServerFingerprintMismatch
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.x509.oid import NameOID

from dht.identity.node_key import Identity, node_id_of
from dht.keys import NodeId

FIRST_DAY = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
LAST_DAY = datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)  # RFC 5280: no expiry; the key is what counts


def server_context(identity: Identity) -> ssl.SSLContext:
    """Make the TLS context of a node's server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with tempfile.TemporaryDirectory(prefix="dse-") as folder:  # mode 0700; `ssl` reads keys from files only
        path = Path(folder) / "certificate.pem"
        path.touch(mode=0o600)
        path.write_bytes(_certificate(identity))
        context.load_cert_chain(path)
    return context


class PeerKey(Fingerprint):
    """Lets a connection live only if the other end has proved the key of a node id. Keep one per peer: it is part of
    the key under which connections are pooled."""

    def __init__(self, node_id: NodeId) -> None:
        super().__init__(bytes(32))
        self._node_id = node_id

    def check(self, transport: asyncio.BaseTransport) -> None:
        """Check the other end's key after the handshake; raises ServerFingerprintMismatch."""
        tls = transport.get_extra_info("ssl_object")
        found = _node_id_of_certificate(tls.getpeercert(binary_form=True)) if tls is not None else b""
        if found != self._node_id or tls.version() != "TLSv1.3":
            host, port, *_ = transport.get_extra_info("peername") or ("", 0)
            raise ServerFingerprintMismatch(self._node_id, found, host, port)


def _node_id_of_certificate(der: bytes | None) -> bytes:
    """The node id of a certificate's key; empty where there is none of ours."""
    if der is None:
        return b""
    try:
        key = x509.load_der_x509_certificate(der).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return b""
    return node_id_of(key.public_bytes_raw()) if isinstance(key, Ed25519PublicKey) else b""


def _certificate(identity: Identity) -> bytes:
    """Private key and certificate, PEM."""
    key = Ed25519PrivateKey.from_private_bytes(identity.private_bytes())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, identity.node_id.hex())])
    builder = x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
    builder = builder.serial_number(int.from_bytes(identity.node_id[:8], "big") | 1)
    certificate = builder.not_valid_before(FIRST_DAY).not_valid_after(LAST_DAY).sign(key, None)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)
