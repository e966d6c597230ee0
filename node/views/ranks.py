"""Writes in one line how far the ranks of pages are computed.

Pure: the part `ranks` of /api/v1/status in, text out.
"""

from node.views.lenient_json import Json, count, number, table
from node.views.safe_text import plain


def ranks_line(status: Json) -> str:
    """Say how many pages have ranks here, and whether these are proved; "" where none are computed."""
    ranks = table(status, "ranks")
    if ranks.get("runs") is not True:
        return ""
    line = f"{count(ranks, 'pages'):,} pages of {count(ranks, 'sites'):,} sites ranked here by their links"
    if hosts := count(ranks, "hosts"):
        line += f", and all {hosts:,} hosts"
    if left_out := count(ranks, "left_out"):
        line += f", {left_out:,} links left out"
    if ranks.get("converged") is not True:
        return f"{line}; not converged: {plain(ranks.get('why', ''))}"
    return f"{line}; converged, {1e6 * number(ranks, 'distance'):.2g} millionths may be wrong"
