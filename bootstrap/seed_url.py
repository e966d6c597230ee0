"""Fetches a network file behind a URL, as a campus publishes one: within bounds, and the right one or none.

`network_urls.py` says from where. The file certifies itself, so who fetched it once cannot be given another network
later; only first contacts change.
"""

import asyncio
from urllib.parse import urljoin, urlsplit

import aiohttp

from bootstrap.network_urls import url_flaw
from bootstrap.networks import MAX_FILE_BYTES, load_network
from dht import BadStrategy, Network

FETCH_S = 20.0
MAX_REDIRECTS = 3
GIVE = "give an https URL, or add #ID, the network's 40 hex digits, to a http one"


async def fetch_network(url: str) -> tuple[str, Network]:
    """Return the text and the checked network behind a seed URL; raises BadStrategy: the URL, the reason, a remedy."""
    try:
        async with asyncio.timeout(FETCH_S):
            text = await _fetch(url)
    except TimeoutError:
        raise BadStrategy(url, f"not fetched within {FETCH_S:.0f} s", "try again later") from None
    except (aiohttp.ClientError, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadStrategy(url, f"cannot be fetched: {reason}", "check the address in a browser") from None
    try:
        network = load_network(text)
    except BadStrategy as error:
        raise BadStrategy(f"{url}: {error.field}", error.reason, error.remedy) from None
    wanted = urlsplit(url).fragment
    if wanted and wanted != network.id:
        raise BadStrategy(url, f"holds the network {network.id}, not {wanted}", "ask whoever gave you the URL")
    return text, network


async def _fetch(url: str) -> str:
    """Return the text behind a URL and a few redirects, each of which must be as safe as the first."""
    pinned, target = urlsplit(url).fragment, url
    async with aiohttp.ClientSession(trust_env=False, cookie_jar=aiohttp.DummyCookieJar()) as session:
        for _ in range(MAX_REDIRECTS + 1):
            if flaw := url_flaw(target):
                raise BadStrategy(target, flaw, GIVE)
            async with session.get(target, allow_redirects=False) as answer:
                if answer.status in (301, 302, 303, 307, 308):
                    target = urljoin(target, answer.headers.get("Location", "")).partition("#")[0]
                    target += f"#{pinned}" if pinned else ""
                    continue
                if answer.status != 200:
                    raise BadStrategy(url, f"answers with status {answer.status}", "check the address in a browser")
                return await _read(url, answer)
    raise BadStrategy(url, f"leads on more than {MAX_REDIRECTS} times", "give the URL where the file lies")


async def _read(url: str, answer: aiohttp.ClientResponse) -> str:
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > MAX_FILE_BYTES:
            raise BadStrategy(url, f"is longer than {MAX_FILE_BYTES} bytes", "it is not a network file")
    return body.decode()
