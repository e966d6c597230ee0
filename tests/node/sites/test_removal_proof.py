"""A proof shows that a site's owner wants pages removed; other files prove nothing."""

import pytest
from msgspec.structs import replace

from crawl import is_canonical
from dht import placement_key
from node.sites.removal_proof import NAME, Removal, proof_urls, proved, removal_of
from store import PROOF_PATH, Document

URL = "https://a.test:8443/Über uns/?q=a&b".replace(" ", "%20").replace("Ü", "%C3%9C")


@pytest.mark.parametrize("depth", [0, 3, 8])
def test_there_is_a_proof_in_each_place_of_a_site(depth: int) -> None:
    found = proof_urls(URL, depth)
    assert len({placement_key(proof, depth)[:10] for proof in found}) == len(found) == 1 << depth
    assert all(is_canonical(proof) for proof in found)
    assert {removal_of(proof) for proof in found} == {Removal("a.test:8443", URL.partition("8443")[2])}


def file(url: str, text: str) -> Document:
    return Document(url, 1.0, 200, media_type="text/plain", text=text)


def test_the_file_names_what_is_to_go_or_how_that_begins() -> None:
    (proof,) = proof_urls("http://a.test/private/x?y", 0)
    wanted = Removal("a.test", "/private/x?y")
    for named in ("/private/x?y", "/private/", "/", "/other /private/x"):
        assert proved(file(proof, f"comment {NAME} {named}")) == wanted
    for named in ("", "/private/x?yz", "private/x?y", "*", "http://a.test/private/"):
        assert proved(file(proof, f"/private/ {NAME} {named}")) is None
    assert proved(file(proof, "/private/")) is None


def test_what_is_no_text_file_at_that_path_proves_nothing() -> None:
    (proof,) = proof_urls("http://a.test/private/", 0)
    page = file(proof, f"{NAME} /")
    assert proved(page) is not None
    others = [replace(page, media_type="text/html"), replace(page, gone=True), replace(page, status=404)]
    others += [
        replace(page, url=url) for url in (f"http://a.test{PROOF_PATH}", f"http://a.test/x{PROOF_PATH}?prefix=/")
    ]
    others.append(replace(page, url=f"http://a.test{PROOF_PATH}?prefix=%2F&place=1&x=/"))
    assert not any(map(proved, others))
