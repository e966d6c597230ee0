"""Shows how work is shared, to programs and people: what is due, what moved, why nothing does; loads of machines.

Pure: values in, plain data or one line out; what comes from elsewhere may lack any field.
"""

from dht import BalanceReport, Load
from node.views.lenient_json import Json, count, tables
from node.views.safe_text import plain


def balance_json(balance: BalanceReport) -> Json:
    """Return how work is shared between this node and others: what is due, what moved, and why nothing does."""
    outlook = balance.outlook
    return {
        "due": outlook.mine,
        "peers_mean": round(outlook.mean, 1),
        "peers": outlook.peers,
        "reason": outlook.reason,
        "lent": balance.lent,
        "borrowed": balance.borrowed,
        "moves": [
            {
                "at": round(at, 3),
                "to": lot.peer.hex(),
                "slots": len(lot.slots),
                "due_here": lot.here,
                "due_there": lot.there,
                "k": round(lot.k, 2),
                "beta": round(lot.beta, 3),
                "reason": lot.reason,
            }
            for at, lot in balance.moves
        ],
    }


def load_json(load: Load) -> Json:
    """Return the shares of a machine that are in use, 0–100."""
    return {"cpu": load.cpu, "memory": load.memory, "disk": load.disk, "network": load.network}


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
