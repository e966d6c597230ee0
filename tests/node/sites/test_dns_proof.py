"""A removal's proof by DNS: what takes the place of the file, and what a lack of DNS means."""

from collections.abc import Mapping

import pytest

from crawl import FetchDeclined, Fetched
from node.sites.dns_proof import DnsProof, name_of
from node.sites.removal_proof import NAME, proof_urls

(PROOF,) = proof_urls("https://a.test:8443/private/x", 0)
RECORD = "_dse-node-removal.a.test"


class Site:
    """A site that answers with one status, and counts how often it was asked; and the DNS beside it."""

    def __init__(self, status: int, texts: tuple[str, ...] | None) -> None:
        self.status, self.texts = status, texts
        self.asked = 0
        self.names: list[str] = []
        self.proof = DnsProof(self, self.find)

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        self.asked += 1
        return Fetched(url, self.status, (), b"of the site", cut=False, latency_s=0.1, address="")

    async def find(self, name: str, beginning: str) -> tuple[str, ...] | None:
        self.names.append(name)
        assert beginning == NAME
        return self.texts


async def test_a_record_that_names_it_is_the_file_and_the_site_is_not_asked() -> None:
    site = Site(503, (f"{NAME} /other/", f"{NAME} /private/"))
    for found in (await site.proof.find(PROOF), await site.proof.fetch(PROOF, {}, 1000)):
        assert found is not None and (found.status, found.media_type) == (200, "text/plain")
        assert found.body.decode().split() == [NAME, "/other/", NAME, "/private/"]
    assert not site.asked and set(site.names) == {RECORD}


@pytest.mark.parametrize("texts", [(), (f"{NAME} /other/",), (NAME,), (f"{NAME} private/x",)])
async def test_where_no_record_names_it_the_sites_file_counts(texts: tuple[str, ...]) -> None:
    site = Site(404, texts)
    assert await site.proof.find(PROOF) is None
    assert (await site.proof.fetch(PROOF, {}, 1000)).status == 404


async def test_that_dns_cannot_be_asked_is_not_the_sites_word() -> None:
    site = Site(404, None)
    assert await site.proof.find(PROOF) is None
    with pytest.raises(FetchDeclined, match=RECORD):
        await site.proof.fetch(PROOF, {}, 1000)
    site.status = 200  # the file stands by itself
    assert (await site.proof.fetch(PROOF, {}, 1000)).body == b"of the site"


async def test_nothing_else_is_asked_of_dns() -> None:
    site = Site(200, (f"{NAME} /",))
    others = ["https://a.test/private/x", "https://a.test/?q=/.well-known/dse-node-removal.txt", PROOF + "&x=1"]
    addresses = [proof_urls(f"http://{host}/", 0)[0] for host in ("192.0.2.1", "[2001:db8::1]:80")]
    for url in others + addresses:
        assert await site.proof.find(url) is None
        assert (await site.proof.fetch(url, {}, 1000)).body == b"of the site"
    assert not site.names
    assert name_of("http://a.test.:80/") == RECORD
