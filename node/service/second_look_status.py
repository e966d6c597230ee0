"""The part `second_looks` of /api/v1/status: how often this node looked at pages again, and the evidence it keeps."""

from typing import Any

from node.app.wiring import AuditParts


def second_looks_json(parts: AuditParts) -> dict[str, Any]:
    """Return the counts since the start, the kept pieces by accused author, and the authors without votes."""
    looks, keeper = parts.second_looks, parts.evidence
    pieces: dict[str, int] = {}
    for each in keeper.found:
        author = each.head.author.hex()
        pieces[author] = pieces.get(author, 0) + 1
    return {
        "fetches": parts.look.fetches,
        "compared": looks.compared,
        "unlike": looks.unlike,
        "confirmed": looks.confirmed,
        "without_turn": parts.look.without_turn,
        "evidence": dict(sorted(pieces.items())),
        "contradicted": [
            {
                "node_id": author.hex(),
                "domains": list(each.domains),
                "until": each.until,
                "votes": author not in keeper.without_votes,
            }
            for author, each in keeper.contradicted().items()
        ],
    }
