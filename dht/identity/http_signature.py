"""Writes signatures of HTTP messages and names keys as JSON Web Keys, so that any server's library verifies them.

Pure: values only. Sources: RFC 9421 (signature base and fields), RFC 8037 and RFC 7638 (Ed25519 keys, thumbprints).
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

Component = tuple[str, str]  # an identifier as RFC 9421 writes it, such as '"@method"', and its value


def signature_fields(
    label: str, components: Sequence[Component], parameters: Mapping[str, int | str], sign: Callable[[bytes], bytes]
) -> dict[str, str]:
    """Return the fields Signature-Input and Signature over some components. Values and texts of parameters are
    printable ASCII without quotes, as URLs and tokens are."""
    identifiers = " ".join([identifier for identifier, _ in components])
    stated = "".join([f";{name}={_bare(value)}" for name, value in parameters.items()])
    lines = [f"{identifier}: {value}\n" for identifier, value in components]
    base = f'{"".join(lines)}"@signature-params": ({identifiers}){stated}'
    signature = base64.b64encode(sign(base.encode("ascii"))).decode()
    return {"Signature-Input": f"{label}=({identifiers}){stated}", "Signature": f"{label}=:{signature}:"}


@lru_cache(maxsize=8192)
def thumbprint(public_key: bytes) -> str:
    """Return the name of an Ed25519 key: base64url SHA-256 of its required members in order (RFC 8037, A.3)."""
    text = f'{{"crv":"Ed25519","kty":"OKP","x":"{_base64url(public_key)}"}}'
    return _base64url(sha256(text.encode()).digest())


def json_web_key(public_key: bytes) -> dict[str, str]:
    """Return an Ed25519 key as a JSON Web Key, named by its thumbprint."""
    key = {"kty": "OKP", "crv": "Ed25519", "kid": thumbprint(public_key)}
    return {**key, "x": _base64url(public_key), "use": "sig"}


def _bare(value: int | str) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
