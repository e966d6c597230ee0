"""What a node says of the ranks that it computes: the part `ranks` of /api/v1/status."""

from math import isfinite
from typing import Any

from node.ranking.rank_figures import RankFigures


def ranks_json(figures: RankFigures) -> dict[str, Any]:
    """Return the counts, the distance that is proved (None where none is), and why the ranks have not converged."""
    return {
        "runs": figures.runs,
        "slots": figures.slots,
        "sites": figures.sites,
        "pages": figures.pages,
        "all_pages": figures.all_pages,
        "links": figures.links,
        "left_out": figures.left_out,
        "distance": float(f"{figures.distance:.3g}") if isfinite(figures.distance) else None,
        "converged": figures.has_converged,
        "why": figures.why,
        "sent_bytes": figures.sent_bytes,
        "hosts": figures.hosts,
        "host_slots": figures.host_slots,
        "host_slots_refused": figures.host_slots_refused,
    }
