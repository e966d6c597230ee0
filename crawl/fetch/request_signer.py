"""Signs each request, so that a site can tell this crawler from whoever borrows its name.

Pure. Web Bot Auth, as draft-ietf-webbotauth-httpsig-protocol-01 says it, over RFC 9421. The signature covers method,
URL and User-Agent: whoever sees it can repeat that very request for a few minutes, and sign nothing else with it.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable

from crawl.fetch.sent_request import request_target
from dht import Clock, CrawlerKey, signature_fields, split_url, thumbprint

LIFE_S = 300  # clocks of sites and volunteers differ by minutes; a signature is good for one GET of one URL alone
NONCE_BYTES = 16
LABEL = "sig1"
TAG = "web-bot-auth"


class RequestSigner:
    """Writes the fields that sign a GET. `directory`: the https origin where sites find the key, "" where there is
    none; `draw`: gives so many random bytes."""

    def __init__(self, key: CrawlerKey, directory: str, clock: Clock, draw: Callable[[int], bytes]) -> None:
        self._key, self._keyid, self._clock, self._draw = key, thumbprint(key.public_key), clock, draw
        self._agent = {"Signature-Agent": f'{LABEL}="{directory}"'} if directory else {}
        self._named = [(f'"signature-agent";key="{LABEL}"', f'"{directory}"')] if directory else []

    def fields(self, url: str, user_agent: str) -> dict[str, str]:
        """Return the fields for a GET of a canonical URL, another signature at each call."""
        parts = split_url(url)
        components = [
            ('"@method"', "GET"),
            ('"@authority"', parts.site),
            ('"@target-uri"', f"{parts.scheme}://{parts.site}{request_target(url)}"),
            ('"user-agent"', user_agent),
            *self._named,
        ]
        created_at = int(self._clock().wall)
        parameters: dict[str, int | str] = {
            "created": created_at,
            "expires": created_at + LIFE_S,
            "keyid": self._keyid,
            "alg": "ed25519",
            "nonce": urlsafe_b64encode(self._draw(NONCE_BYTES)).decode(),
            "tag": TAG,
        }
        return {**self._agent, **signature_fields(LABEL, components, parameters, self._key.sign)}
