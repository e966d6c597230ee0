"""Reads a site owner's proof of a removal from DNS, where no file can be put at the site: a TXT record beside its name.

The record's text stands for the text of the file, so all else is as with the file. It becomes the page at the proof's
address, signed by the site's crawler, sampled by second looks, and fetched again at times. The record is asked for
first, since that costs the site nothing, and may be had where the site is down or lets no crawler in.
"""

from collections.abc import Awaitable, Callable, Mapping

from crawl import FetchDeclined, Fetched, Fetcher
from dht import split_url
from node.sites.removal_proof import NAME, proves, removal_of
from store import PROOF_PATH

LABEL = "_dse-node-removal"
TEXT = (("Content-Type", "text/plain; charset=utf-8"),)

FindTexts = Callable[[str, str], Awaitable[tuple[str, ...] | None]]
"""The TXT records of a name that begin as the second argument; () where there are none, None where that could not be
found out."""


class DnsProof:
    """A `Fetcher` to which a removal's proof is what DNS says, where it says anything."""

    def __init__(self, fetcher: Fetcher, find_texts: FindTexts) -> None:
        self._fetcher, self._find_texts = fetcher, find_texts

    async def find(self, url: str) -> Fetched | None:
        """Return what DNS says in place of a proof's file; None where it says nothing, and for all other URLs."""
        texts = await self._texts(url)
        return _file(url, texts) if texts else None

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        """Fetch a URL; a proof by DNS where there is one. Raises what the fetcher does, and FetchDeclined where the
        file is no proof and DNS could not be asked: then nothing is known of the removal."""
        texts = await self._texts(url)
        if texts:
            return _file(url, texts)
        fetched = await self._fetcher.fetch(url, headers, max_bytes)
        if texts is None and fetched.status not in (200, 304):
            raise FetchDeclined(url, f"name: no name server says here whether {name_of(url)} has a TXT record")
        return fetched

    async def _texts(self, url: str) -> tuple[str, ...] | None:
        """Return the records that prove a removal, () where there are none or the URL is no proof's."""
        removal = removal_of(url) if PROOF_PATH in url else None
        name = name_of(url) if removal is not None else ""
        if removal is None or not name:
            return ()
        texts = await self._find_texts(name, NAME)
        if texts is None or any(proves(text.split(), removal.prefix) for text in texts):
            return texts
        return ()


def name_of(url: str) -> str:
    """Return the name whose TXT records speak for the host of a URL, at any port; "" where the host is an address."""
    host = split_url(url).host
    return "" if ":" in host or host[-1:].isdigit() else f"{LABEL}.{host.rstrip('.')}"


def _file(url: str, texts: tuple[str, ...]) -> Fetched:
    return Fetched(url, 200, TEXT, "\n".join(texts).encode(), cut=False, latency_s=0.0, address="")


async def no_texts(name: str, beginning: str) -> tuple[str, ...]:
    """Return (), as a `FindTexts` where there is no DNS."""
    return ()
