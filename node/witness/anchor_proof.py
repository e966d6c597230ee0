"""What an anchor is beside the page that it names: borne out by its link, made up by its author, or neither.

Pure: records in, findings out. An author that signs a page and an anchor of the same instant, of which the anchor says
what no link of the page does, is proved a liar to whoever reads the two. The rule is as lenient as rules of writing may
ever differ: any link of the page to that URL will do, and any part of its text (`node/crawling/anchor_writer.py`).
Of a version that was stored before, after, or by somebody else, nothing follows: pages change, and others fetch them.
"""

from enum import Enum

from crawl import scope_for
from dht import node_id_of, site_of
from node.witness.statement import STATED_S
from node.witness.verdict import AuthorVerdict
from store import (
    Anchor,
    BadReplica,
    Document,
    Kind,
    Record,
    RecordCheck,
    decode_anchor,
    decode_document,
    open_package,
    pack,
)

MAX_PROOF_BYTES = 1 << 20  # in one package; what is longer is seen by each for itself


class AnchorFinding(Enum):
    """What a page says of an anchor that names it. The values are part of the log."""

    BORNE_OUT = "borne out"
    INVENTED = "invented"
    UNTOLD = "untold"


def finding(anchor: Record, page: Record | None) -> AnchorFinding:
    """Hold an anchor that has a text against the version of its source that was found, if any."""
    if page is None:
        return AnchorFinding.UNTOLD
    said, document = decode_anchor(anchor.body), decode_document(page.body)
    if _has_link(document, said):
        return AnchorFinding.BORNE_OUT
    is_its_own = anchor.proof.author == page.proof.author and anchor.version.at_ms == page.version.at_ms
    is_fetched = page.version.epoch > 0  # an import says what an archive did, of whatever instant
    is_proof = is_its_own and is_fetched and document.url == said.source and bool(said.text)
    return AnchorFinding.INVENTED if is_proof else AnchorFinding.UNTOLD


def _has_link(document: Document, said: Anchor) -> bool:
    links = (text for url, text in document.links if url == said.url)
    return document.url == said.source and any(said.text in " ".join(text.split()) for text in links)


def encode_proof(anchor: Record, page: Record) -> bytes:
    """Encode what proves that an anchor was invented."""
    return pack([anchor, page.without_content()])


def decode_proof(package: bytes) -> tuple[Record, Record]:
    """Decode an anchor and a page that somebody says are a proof; raises BadReplica where they are neither. Whether
    they prove anything `verdict_of` says."""
    records = open_package(package, MAX_PROOF_BYTES)
    if [record.kind for record in records] != [Kind.ANCHOR, Kind.DOCUMENT]:
        raise BadReplica("proof", "it is not an anchor and a page")
    return records[0], records[1]


def verdict_of(anchor: Record, page: Record, check: RecordCheck) -> AuthorVerdict:
    """Return what follows from a proof, the same for all who read it; raises BadReplica where it proves nothing."""
    flaw = next((flaw.reason for flaw in check.flaws([anchor, page]) if flaw.reason), "")
    if flaw or finding(anchor, page) != AnchorFinding.INVENTED:
        raise BadReplica("proof", flaw or "the page does not contradict the anchor")
    at = anchor.version.at_ms / 1000
    domain = scope_for("domain", f"http://{site_of(decode_anchor(anchor.body).source)}/").removeprefix("*.")
    return AuthorVerdict(node_id_of(anchor.proof.author), at - STATED_S, at, (domain,))
