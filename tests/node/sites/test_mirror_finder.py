"""Host records say what a host is another name of, and crawlers hear it."""

from crawl import AliasEvidence, MirrorAlias
from node.sites.mirror_finder import aliases_of, said_of

SITE = "www.a.example:8080"


def test_what_a_record_says_is_what_was_found() -> None:
    found = [
        MirrorAlias(f"https://{SITE}/", "https://a.example/", 2.5, AliasEvidence.CANONICAL),
        MirrorAlias(f"http://{SITE}/", f"https://{SITE}/", 1.5, AliasEvidence.REDIRECTS),
    ]
    said = [said_of(alias) for alias in found]
    assert [(alias.is_secure, alias.how) for alias in said] == [(True, 1), (False, 2)]
    assert aliases_of(SITE, said) == found
