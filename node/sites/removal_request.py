"""Takes a removal from a site's owner: looks whether the proof is there, and hands its addresses to their owners."""

from crawl import BadUrl, Fetcher, FetchFailed, Visit, canonical_url
from dht import RemoteError, SiteShards
from node.api.crawl import Removed
from node.crawling.url_lookup import UrlLookup
from node.errors import NotProved
from node.jobs.seed_publisher import SeedPublisher
from node.sites.dns_proof import name_of
from node.sites.removal_proof import NAME, proof_urls, proves, removal_of
from store import PROOF_PATH

MAX_BYTES = 65_536


class RemovalRequests:
    """Hands removals in on behalf of this node's people."""

    def __init__(self, fetcher: Fetcher, seeds: SeedPublisher, lookup: UrlLookup, places: SiteShards) -> None:
        self._fetcher, self._seeds, self._lookup, self._places = fetcher, seeds, lookup, places

    async def remove(self, text: str) -> Removed:
        """Hand in the removal of all URLs that begin so. Raises NotProved where the site's file
        or DNS does not name it, RemoteError where nobody takes it."""
        removed = await self.check(text)
        await self._seeds.publish([Visit(proof, 0) for proof in removed.proofs])
        return removed

    async def check(self, text: str) -> Removed:
        """Return the removal of all URLs that begin so. Raises NotProved where the site's file or DNS does not name
        it."""
        try:
            url = canonical_url(text)
        except BadUrl as error:
            raise NotProved(text[:200], error.reason, "give a URL such as https://example.org/private/") from None
        await self._lookup.place(url)
        proofs = proof_urls(url, self._places.depth(url))
        removal = removal_of(proofs[0])
        if removal is None:
            raise NotProved(text[:200], "is too long", "name a shorter beginning")
        await self._check(url, proofs[0], removal.prefix)
        return Removed(site=removal.site, prefix=removal.prefix, proofs=proofs)

    async def _check(self, url: str, proof: str, prefix: str) -> None:
        try:
            fetched = (await self._fetcher.fetch(proof, {}, MAX_BYTES)).opened(MAX_BYTES)
        except (FetchFailed, RemoteError) as error:
            raise NotProved(url, f"{proof} cannot be read: {error}", "try again when it can") from None
        words = fetched.body.decode("utf-8", "replace").split()
        if fetched.status != 200 or fetched.media_type != "text/plain" or not proves(words, prefix):
            found = f"{proof} answers {fetched.status}, {fetched.media_type or 'no type'}, and does not name {prefix}"
            remedy = f"put a text file with the line '{NAME} {prefix}' at {PROOF_PATH}"
            name = name_of(url)
            raise NotProved(url, found, remedy + (f", or a TXT record with that text at {name}" if name else ""))
