"""Shows how work is shared, to programs and people: what is due, what moved, why nothing does; loads of machines.

Pure: plain data in, one line out; what comes from elsewhere may lack any field.
"""

from node.views.lenient_json import count, tables
from node.views.safe_text import plain


def balance_line(balance: object) -> str:
    """Write in one line what is due here and elsewhere, slots lent and borrowed, and the last move or why none."""
    if not isinstance(balance, dict) or not isinstance(balance.get("reason"), str):
        return ""
    parts = [plain(balance["reason"], 300)]
    lent, borrowed, peers = (count(balance, name) for name in ("lent", "borrowed", "peers"))
    if peers:
        parts.append(f"{count(balance, 'peers_mean'):,} at {peers:,} other{'s' * (peers != 1)} on average")
    if lent or borrowed:
        parts.append(f"slots lent {lent:,}, borrowed {borrowed:,}")
    moves = tables(balance, "moves")
    if moves and moves[-1].get("reason") != balance["reason"]:
        parts.append(f"last: {plain(moves[-1].get('reason', ''), 300)}")
    return "; ".join(parts)


def load_line(load: object) -> str:
    """Write a load as cpu/memory/disk/network in percent, or a dash where it is not known."""
    if not isinstance(load, dict):
        return "-"
    return "/".join(str(count(load, name)) for name in ("cpu", "memory", "disk", "network"))
