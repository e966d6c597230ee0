"""The bodies of evidence against authors of pages.

Pure: values only.
"""

from node.api.body import RequestBody, ResponseBody


class EvidenceOrder(RequestBody):
    """The body of POST /api/v1/evidence. `fetch`: fetch some pages of each author again where there is enough."""

    fetch: bool = True


class EvidencePiece(ResponseBody):
    """One piece of evidence: a site, a document, its time, the times of both looks, and the node that found it."""

    site: str
    document: str
    written_at: float
    looks: list[float]
    finder: str


class AccusedAuthor(ResponseBody):
    """The evidence against one author. `counts`: it is enough; `again` says by domain what fetching again showed."""

    node_id: str
    domains: list[str]
    counts: bool
    no_votes_until: float
    again: dict[str, str]
    confirmed: bool
    pieces: list[EvidencePiece]


class Accused(ResponseBody):
    """The evidence by accused author. `domains_needed`: on so many domains it is enough."""

    domains_needed: int
    authors: list[AccusedAuthor]
