"""Checks at a site whether a request came from a member of a network: its head on standard input, keys from a node.

    python examples/verify_crawler.py https://dse.example.edu < head.txt

`head.txt` holds the request as it came, from `GET /page HTTP/1.1` to the empty line. The keys are asked of a node that
the site's owner trusts, such as that of the page which the User-Agent names; where a request says that they lie
elsewhere, that is only its word. Needs Python and the package `cryptography`. Exit status 0: it came from a member.
"""

import base64
import json
import re
import sys
import time
import urllib.request
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

DIRECTORY = "/.well-known/http-message-signatures-directory"
MAX_DIRECTORY_BYTES = 2 << 20
CLOCK_S = 60  # how far the clocks of sender and site may differ
MUST_COVER = {'"@method"', '"@authority"', '"@target-uri"', '"user-agent"'}
SCHEMES = ("https", "http")  # a program behind a proxy does not see by which it was asked
MEMBER = re.compile(r'(?:^|,)[ \t]*([a-z*][a-z0-9_.*-]*)=((?:"[^"]*"|[^",])*)')  # of a dictionary field (RFC 9651)
INPUT = re.compile(r'(\(((?:"[a-z@-]+"(?:;key="[a-z0-9]+")? ?)*)\)((?:;[a-z]+=(?:"[ -!#-~]*"|[0-9]+))*))')
PARAMETER = re.compile(r';([a-z]+)=(?:"([^"]*)"|([0-9]+))')


class Forged(Exception):
    """Says why a request proves nothing."""


def read_head(text: str) -> tuple[str, str, dict[str, str]]:
    """Return method, target and fields (by names in lower case) of a request's head."""
    first, *lines = text.replace("\r\n", "\n").partition("\n\n")[0].split("\n")
    method, target = [*first.split(" "), "", ""][:2]
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name = name.strip().lower()
        fields[name] = f"{fields[name]}, {value.strip()}" if name in fields else value.strip()
    return method, target, fields


def members(field: str) -> dict[str, str]:
    """Return the members of a dictionary field by their labels."""
    return {label: value.strip() for label, value in MEMBER.findall(field)}


def base_of(method: str, uri: str, fields: Mapping[str, str], covered: str) -> str:
    """Return the lines that a signature covers, as the request has them."""
    known = {'"@method"': method, '"@target-uri"': uri, '"@authority"': fields["host"].lower()}
    lines = []
    for identifier in covered.split():
        name, _, label = identifier.partition(';key="')
        if identifier in known:
            value = known[identifier]
        elif label:
            value = members(fields[name.strip('"')])[label.rstrip('"')]
        else:
            value = fields[name.strip('"')]
        lines.append(f"{identifier}: {value}\n")
    return "".join(lines)


def verify(method: str, target: str, fields: Mapping[str, str], keys: list[dict[str, str]], now_s: float) -> str:
    """Return the name of the key that signed a request; raises Forged where none of `keys` did, or not this request."""
    for label, text in members(fields.get("signature-input", "")).items():
        read = INPUT.fullmatch(text)
        stated = {name: word or number for name, word, number in PARAMETER.findall(read[3])} if read else {}
        if not read or stated.get("tag") != "web-bot-auth":
            continue
        if not set(read[2].split()) >= MUST_COVER:
            raise Forged("the signature leaves out what it must cover")
        key = next((key for key in keys if key.get("kid") == stated.get("keyid")), None)
        if key is None:
            raise Forged("its key is no member's")
        try:
            is_timely = int(stated["created"]) - CLOCK_S <= now_s < int(stated["expires"])
            signature = base64.b64decode(members(fields["signature"])[label].strip(":"))
            public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(f"{key['x']}=="))
            uris = [f"{scheme}://{fields['host'].lower()}{target}" for scheme in SCHEMES]
            bases = [f'{base_of(method, uri, fields, read[2])}"@signature-params": {read[1]}' for uri in uris]
            is_ours = any(_is_signed(public, signature, base.encode()) for base in bases)
        except (KeyError, ValueError):
            is_ours = is_timely = False
        if not is_ours:
            raise Forged("the signature is of another request, or of another key")
        if not is_timely:
            raise Forged("the signature is of another time")
        return key["kid"]
    raise Forged("it is not signed")


def _is_signed(key: Ed25519PublicKey, signature: bytes, message: bytes) -> bool:
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def fetch_keys(origin: str) -> list[dict[str, str]]:
    """Ask a node for the keys of its network's members: once in a quarter of an hour will do."""
    with urllib.request.urlopen(origin + DIRECTORY, timeout=10) as answer:
        found: list[dict[str, str]] = json.loads(answer.read(MAX_DIRECTORY_BYTES))["keys"]
    return found


def main() -> int:
    """Read a head, ask for the keys, and say what the request proves."""
    method, target, fields = read_head(sys.stdin.read(1 << 16))
    try:
        print(f"a member's request, signed by {verify(method, target, fields, fetch_keys(sys.argv[1]), time.time())}")
    except Forged as why:
        print(f"not a member's request: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
