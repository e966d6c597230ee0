"""Lists the keys by which the network's nodes sign their requests to sites: those of all members that this node knows.

The form is that of HTTP Message Signatures directories (draft-ietf-webbotauth-httpsig-protocol-01): a JSON Web Key Set.
This node signs the set by its own key, so that nobody shows it elsewhere as theirs. A key follows from a member's
signed heartbeat: nobody lists keys of others, and only members are listed.
"""

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256

import msgspec
from aiohttp import web

from dht import CrawlerKey, crawler_key_of, json_web_key, signature_fields, system_clock, thumbprint
from node.service.service import Service
from node.web.requests.api import parameters
from node.web.requests.own_origin import own_host
from node.web.requests.routes import KEY_DIRECTORY_TYPE

MAX_LISTED = 5_000  # keys, of 180 bytes; one of more members is asked for by its name
FRESH_S = 900  # a new member's requests are in doubt at sites for so long
TAG = "http-message-signatures-directory"


class KeyDirectory:
    """Holds the handler of the directory. `key`: this node's own, None where it signs nothing."""

    def __init__(self, service: Service, key: CrawlerKey | None) -> None:
        self._service, self._key = service, key

    async def key_directory(self, request: web.Request) -> web.Response:
        """Answer with this node's key and those of the other members, or with the one that is asked for."""
        wanted = parameters(request, "key_directory").text("keyid")
        own = [self._key.public_key] if self._key else []
        body = await asyncio.to_thread(_key_set, own, await self._service.member_keys(), wanted)
        headers = {"Content-Type": KEY_DIRECTORY_TYPE, "Cache-Control": f"public, max-age={FRESH_S}"}
        if self._key:
            headers |= directory_signature(self._key, own_host(request).lower(), body, int(system_clock().wall))
        return web.Response(body=body, headers=headers)


def directory_signature(key: CrawlerKey, authority: str, body: bytes, now_s: int) -> dict[str, str]:
    """Return the HTTP header fields that prove who publishes a key directory: the digest of its body, and a signature
    over that digest and the host that was asked.

    `authority`: that host, and its port where the URL has one. `body`: the bytes of the answer. `now_s`: Unix seconds;
    the signature is valid for FRESH_S from then."""
    digest = f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"
    components = [('"@authority";req', authority), ('"content-digest"', digest)]
    parameters: dict[str, int | str] = {
        "created": now_s,
        "expires": now_s + FRESH_S,
        "keyid": thumbprint(key.public_key),
        "alg": "ed25519",
        "tag": TAG,
    }
    return {"Content-Digest": digest, **signature_fields("sig1", components, parameters, key.sign)}


def _key_set(own: Sequence[bytes], members: Sequence[bytes], wanted: str) -> bytes:
    """Return the body of the list; the first time takes a tenth of a second for a thousand members."""
    keys = [*own, *(key for member in members if (key := crawler_key_of(member)))]
    listed = [json_web_key(key) for key in keys if wanted in ("", thumbprint(key))]
    return msgspec.json.encode({"keys": listed[:MAX_LISTED]})
