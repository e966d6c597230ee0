"""Writes the answer of /api/v1/explain as people read it: names and lines.

Pure: values in, texts out; tolerant of what is missing, as all views are.
"""

from collections.abc import Iterator

from crawl import scope_words, span
from dht import counted
from node.views.lenient_json import Json, table, texts
from node.views.safe_text import plain

_QUEUE_STATES = {
    "unknown": "not in its queue",
    "later": "in its queue, not due yet",
    "ready": "in its queue, waits for its host's turn",
    "open": "being fetched, read or handed over",
}
_ROBOTS = {
    "unknown": "not read lately by the holder; it is asked first",
    "allowed": "allows it",
    "disallowed": "forbids it",
    "barred": "could not be read, so nothing is fetched",
}


def explained_facts(body: Json, now: float) -> list[tuple[str, str]]:
    """Return the facts about a URL for two columns, (name, text). `now`: Unix seconds."""
    facts = [("fetched?", f"{plain(body.get('answer', ''))}: {plain(body.get('why', ''))}")]
    if body.get("canonical") is None:
        return facts
    facts += [
        ("address", plain(body["canonical"])),
        ("", "; ".join(plain(change) for change in body.get("changed") or ())),
        ("slot", _placement(table(body, "placement"))),
        ("owners", ", ".join(_owner(owner) for owner in body.get("owners") or ())),
        ("holder", _holder(body.get("holder"))),
        ("fetched by", _fetcher(table(body, "fetcher"))),
        ("rule", ", ".join(_rule(table(body, "rule")))),
        ("known", ", ".join(_known(body.get("known"), now))),
        ("queue", ", ".join(_queue(table(body, "crawler")))),
        ("robots", ", ".join(_robots(table(body, "crawler")))),
    ]
    return [(name, value) for name, value in facts if value]


def _placement(place: Json) -> str:
    spread = f", its site is spread over {place['spread']} places" if place.get("spread") else ""
    return f"{place.get('slot', '?')} of {place.get('of', '?')}{spread}"


def _owner(owner: Json) -> str:
    name = "this node" if owner.get("self") else plain(str(owner.get("node_id", ""))[:12])
    marks = ["away"] if not owner.get("live") else [] if owner.get("ready") else ["not ready"]
    marks += ["refuses it"] if owner.get("refuses") else []
    return f"{name} ({', '.join(marks)})" if marks else name


def _holder(holder: object) -> str:
    if not isinstance(holder, dict):
        return "no node holds the lease of its slot at present"
    name = "this node" if holder.get("self") else plain(str(holder.get("node_id", "")))
    return name if holder.get("answered") else f"{name}, which did not answer"


def _fetcher(fetcher: Json) -> str:
    if not fetcher:
        return ""
    node = plain(str(fetcher.get("node_id") or "nobody now"))
    why = f": {plain(fetcher['why'])}" if fetcher.get("why") else ""
    return ("this node" if fetcher.get("self") else node) + why


def _rule(rule: Json) -> Iterator[str]:
    if not rule.get("allowed", True):
        yield plain(rule.get("reason", ""))
        return
    yield f"allowed by strategy {rule.get('strategy_version', '?')}; no other rule blocks it"
    yield f"at least {rule.get('min_delay_s', 0):g} s between two requests to its host"
    yield from (f"its addresses by {plain(words)}" for words in texts(rule, "addresses"))
    if rule.get("max_depth") is not None:
        yield f"at most {rule['max_depth']} links deep"
    if rule.get("preferred"):
        yield f"rule {plain(rule.get('number', '?'))} names node {plain(str(rule['preferred'])[:12])} as its crawler"


def _known(known: object, now: float) -> Iterator[str]:
    if not isinstance(known, dict):
        yield "no"
        return
    yield plain(known.get("state", "")) + (f" ({plain(known['reason'])})" if known.get("reason") else "")
    if known.get("visited_at"):
        status = f", status {known['status']}" if known.get("status") else ""
        yield f"visited {span(max(0.0, now - known['visited_at']))} ago{status}"
    if known.get("target"):
        yield f"to {plain(known['target'])}"
    if known.get("changes"):
        yield f"changed at {counted(known['changes'], 'visit')}"
    if known.get("due_at", 0) > now:
        yield f"due again in {span(known['due_at'] - now)}"
    if known.get("state") not in ("waiting", "fetched"):
        return
    scope = f" within {plain(scope_words(known['scope']))}" if known.get("scope") else ""
    yield f"links followed from it: {known.get('depth', 0)} deep{scope}" if known.get("depth") else "no links followed"


def _queue(told: Json) -> Iterator[str]:
    if not told:
        return
    if told.get("hindrance"):
        yield f"stopped: {plain(told['hindrance'])}"
    yield _QUEUE_STATES.get(str(told.get("stand")), plain(told.get("stand", "")))
    if told.get("ahead"):
        yield f"{told['ahead']:,} of its host before it"
    if told.get("host_open"):
        yield "a request to its host is under way"
    elif told.get("host_rest_s"):
        yield f"its host rests {span(told['host_rest_s'])} more"
    if told.get("trap"):
        yield plain(told["trap"])


def _robots(told: Json) -> Iterator[str]:
    if not told:
        return
    why = f": {plain(told['robots_why'])}" if told.get("robots_why") else ""
    yield _ROBOTS.get(str(told.get("robots")), plain(told.get("robots", ""))) + why
    if told.get("crawl_delay_s"):
        yield f"asks for {told['crawl_delay_s']:g} s between requests"
