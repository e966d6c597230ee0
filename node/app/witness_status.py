"""What a node says of pages that it and others fetched again: the part `witness` of /api/v1/status."""

from typing import Any

from node.app.wiring import WitnessParts

MAX_NAMED = 16  # of those against whom statements stand


def witness_json(parts: WitnessParts) -> dict[str, Any]:
    """Return the counts since the start, against whom statements stand, and who was convicted."""
    witness, board = parts.witness, parts.board
    convicts = sorted(board.convicts().items(), key=lambda item: item[1].since)
    return {
        "possible": parts.panels.is_any_large,
        "fetches": parts.look.fetches,
        "compared": witness.compared,
        "unlike": witness.unlike,
        "agreed": parts.hearing.agreed,
        "without_turn": parts.look.without_turn,
        "accused": {author.hex(): count for author, count in sorted(board.statements.items())[:MAX_NAMED]},
        "convicted": [
            {"node_id": author.hex(), "since": each.since, "until": each.until, "sites": list(each.sites)}
            for author, each in convicts
        ],
    }
