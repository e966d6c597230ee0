"""Says why a node does not serve, as whoever sends it queries or watches it must know.

Pure: the answer of /api/v1/status in, reasons out.
"""

from dht import counted
from node.views.lenient_json import Json, count, table
from node.views.status import view_of

MAX_WARNINGS = 5


def not_ready_reasons(status: Json) -> tuple[str, ...]:
    """Return why a node serves no slot, the first reason being its own state, then what it warns of; empty where it
    serves at least one. A node that leaves its network for good should get no queries, though it may serve some."""
    slots, view = table(status, "slots"), view_of(status)
    owned, ready = count(slots, "owned"), count(slots, "ready")
    if view.leaving:
        first = f"leaving: {view.leaving}"
    elif ready > 0:
        return ()
    elif view.is_client:
        first = "it is a client, which stores nothing for others: ask a member"
    elif owned:
        first = f"none of its {counted(owned, 'slot')} has been compared with other owners yet"
    else:
        first = "it owns no slot yet: members must admit it first"
    return (first, *view.warnings[:MAX_WARNINGS])
