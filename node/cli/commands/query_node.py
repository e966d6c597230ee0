"""Does the verbs that ask the running node: search, status, evidence, open, remove, pause, resume."""

import os
import sys
import webbrowser
from argparse import Namespace

from dht import counted
from node.cli.commands.output import bold, is_terminal, marked, print_facts, print_json
from node.cli.commands.target_node import client
from node.errors import RefusedByNode
from node.views.duration import parse_duration
from node.views.evidence import evidence_lines, local_lines
from node.views.safe_text import around, plain
from node.views.status import StatusView, size, view_of
from node.web.rendering.translations import translator
from node.web.search.results import Result, ResultPage, result_page

NEEDS_OWNER = 3  # exit code of `status`: the node answers, and something needs its owner


def search(arguments: Namespace) -> int:
    """Search the network and print results for people, or the body of /api/v1/search."""
    query = " ".join(arguments.query)
    wanted = {"q": query, "limit": arguments.limit, "lang": arguments.lang, "site": arguments.site}
    if arguments.sort == "date":
        wanted["sort"] = "date"
    wanted |= {name: "true" for name in ("explain", "verbatim") if getattr(arguments, name)}
    try:
        answer = client(arguments).get("/api/v1/search", wanted)
    except RefusedByNode as refusal:
        if refusal.position is not None:
            _print_fault(query, refusal.position)
        raise
    if arguments.json:
        print_json(answer)
    else:
        _print_results(query, result_page(answer), arguments.site)
    return 0


def status(arguments: Namespace) -> int:
    """Print the state of the node on one screen."""
    if arguments.ready:
        return _ready(arguments)
    body = client(arguments).get("/api/v1/status")
    view = view_of(body)
    if arguments.json:
        print_json(body)
    else:
        print_facts(_facts(view))
        for need in view.called_for:
            print(f"\nneeds you: {need}")
        for warning in view.warnings:
            if warning not in view.called_for:
                print(f"\nneeds attention: {warning}")
    return NEEDS_OWNER if view.has_faults or view.called_for else 0


def _ready(arguments: Namespace) -> int:
    """Say whether the node is ready, as supervisors ask it; no proxy of the environment stands between."""
    try:
        body = client(arguments).get("/readyz", {"format": "json"})
    except RefusedByNode:
        body = {"ready": False}
    if arguments.json:
        print_json(body)
    else:
        print("ready" if body.get("ready") is True else "not ready: `dse-node status` shows the reason")
    return 0 if body.get("ready") is True else 1


def open_page(arguments: Namespace) -> int:
    """Print a link that logs the owner's browser in, and open it where a person sits at a screen."""
    node = client(arguments, needs_token=True)
    body = node.post("/api/v1/login", {})
    link = f"{node.url}{plain(body['path'])}"
    if arguments.json:
        print_json({"link": link, "expires_in_s": body["expires_in_s"]})
    else:
        print(link)
        opened = _has_screen() and webbrowser.open(link)
        state = "opened in your browser; the link works" if opened else "works"
        print(f"{state} once, within {body['expires_in_s'] / 60:.0f} minutes", file=sys.stderr)
    return 0


def _has_screen() -> bool:
    """Tell whether a browser with windows can be opened for the person at the terminal."""
    return is_terminal() and any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))


def remove(arguments: Namespace) -> int:
    """Have pages removed that a file at their site names."""
    body = client(arguments, needs_token=True).post("/api/v1/remove", {"url": arguments.prefix})
    if arguments.json:
        print_json(body)
    else:
        page = f"https://{plain(body['site'])}{plain(body['prefix'])}"
        print(f"All pages under {page} will be hidden within a minute and erased within an hour.")
    return 0


def evidence(arguments: Namespace) -> int:
    """List the evidence against authors of pages; exit with 1 where fetching pages again confirms some."""
    if arguments.local:
        status = client(arguments).get("/api/v1/status")
        if arguments.json:
            print_json({name: status[name] for name in ("second_looks", "limits")})
        else:
            print("\n".join(local_lines(status)))
        return 0
    node = client(arguments, needs_token=True)
    body = node.post("/api/v1/evidence", {"fetch": not arguments.no_fetch})
    if arguments.json:
        print_json(body)
    else:
        for line in evidence_lines(body):
            print(line)
    return 1 if any(author.get("confirmed") is True for author in body["authors"]) else 0


def pause(arguments: Namespace) -> int:
    """Stop this node's fetching; open fetches end."""
    body: dict[str, object] = {"paused": True}
    if arguments.duration:
        body["for_s"] = parse_duration(arguments.duration)
    reason = plain(client(arguments, needs_token=True).post("/api/v1/pause", body).get("reason", ""))
    print(f"{reason or 'paused'}. It does not crawl; it still stores, indexes and answers.")
    return 0


def resume(arguments: Namespace) -> int:
    """Let this node fetch again."""
    body = client(arguments, needs_token=True).post("/api/v1/pause", {"paused": False})
    print(f"resumed, but {plain(body['reason'])}" if body.get("reason") else "resumed")
    return 0


def _print_fault(query: str, position: int) -> None:
    """Print the query with a caret below the character that does not parse."""
    before, _, _ = around(query, position)
    width = sum(2 if ord(character) >= 0x1100 else 1 for character in before)  # CJK takes two columns
    print(f"  {plain(query)}\n  {' ' * width}^", file=sys.stderr)


def _print_results(query: str, page: ResultPage, site: str = "") -> None:
    if page.definition:
        print(f"{page.definition.text}\n    {page.definition.url}\n")
    for number, result in enumerate(page.results, 1):
        _print_result(number, result)
    if not page.results:
        where = f" on {plain(site)}" if site else ""
        print(f"Nothing found for {plain(query)}{where}. Try fewer or other words.")
    for each in page.readings:
        print(translator("en")(f"read.{each.read_as}", each.read_as, piece=each.piece))
    if page.corrected:
        print(f"Showing results for: {page.corrected} (--verbatim: only for {plain(query)})")
    if page.related:
        print(f"Related: {', '.join(page.related)}")
    print(_tally(page))


def _print_result(number: int, result: Result) -> None:
    print(f"{number:>2}. {bold(result.title or 'Untitled page')}")
    print(f"    {result.url}")
    if result.day:
        print(f"    {result.day}")
    if result.snippet:
        print(f"    {marked(result.snippet)}")
    for line in result.why.lines.splitlines() if result.why else ():
        print(f"      {line}")
    print()


def _tally(page: ResultPage) -> str:
    english = translator("en")
    about = "" if page.is_exact_total else "at least " if page.is_partial else "about "
    whole = f"{len(page.results)} of {about}{counted(page.total, 'result')} in {page.took_ms} ms"
    if page.total < len(page.results) and not page.is_partial:
        whole = f"{english.count(page.tally_key, page.total)} {len(page.results)} results in {page.took_ms} ms"
    if page.is_partial and page.answered == page.slots:
        return f"{whole}; some nodes answered too late, so the order may differ a little"
    if page.is_partial:
        return f"{whole}; only {page.answered} of {page.slots} slots answered in time, so results may be missing"
    reasons = (english(f"why.{each.reason}", each.reason, peers=each.peers, slots=each.slots) for each in page.doubts)
    doubts = "".join(f"; {reason}" for reason in reasons)
    return f"{whole}; the whole network answered ({counted(page.slots, 'slot')}){doubts}"


def _members(view: StatusView) -> str:
    if view.nodes == 1 and not view.is_client:
        return "1 node: this one"
    away = f", {view.away:,} of them away" if view.away else ""
    return f"{view.nodes:,} nodes in the network{away}; live peers by protocol: IPv4 {view.ipv4}, IPv6 {view.ipv6}"


def _refuses(view: StatusView) -> str:
    if not view.refuse_entries:
        return ""
    entries = counted(view.refuse_entries, "entry", "entries")
    return f"{entries} of crawl.refuse, {view.refuse_told:,} of them announced to peers"


def _index(view: StatusView) -> str:
    """Say how far the index is: that copies are alike does not mean that no page is still to come."""
    if view.is_settled:
        return "settled: all copies are indexed, and no address waits"
    if not view.are_alike:
        return "still comparing and indexing copies"
    if view.due:
        return f"up to date; {counted(view.due, 'address', 'addresses')} still waiting to be fetched"
    return f"up to date; {counted(view.unheld, 'slot')} without a crawler"


def _copies(view: StatusView) -> str:
    state = f"too few of {counted(view.under_replicated, 'slot')}" if view.under_replicated else "complete"
    return f"{state} ({view.copies})" if view.copies else state


def _in_network(view: StatusView) -> str:
    if not view.knows_network:
        return "number in the network not known yet"
    return f"{'' if view.is_network_counted else 'about '}{view.network_documents:,} in the network"


def _disk(view: StatusView) -> str:
    if not view.disk_quota:
        return size(view.disk_used)
    full = f", full in {view.full_in_days:,.0f} days at the last day's rate" if view.full_in_days else ""
    return f"{size(view.disk_used)} of {size(view.disk_quota)}{full}"


def _scripts(pages: int) -> str:
    if not pages:
        return ""
    return f"{counted(pages, 'page')} with JavaScript, which is not run"


def _facts(view: StatusView) -> list[tuple[str, str]]:
    reason = f" ({view.crawl_reason})" if view.crawl_reason else ""
    expires = f", valid until {view.strategy_expires}" if view.strategy_expires else ""
    facts = [
        ("node", view.node_id),
        ("network", view.network),
        ("version", view.version),
        ("members", _members(view)),
        ("leaving", view.leaving),
        ("role", "client: stores nothing for others, fetches on request" if view.is_client else ""),
        ("reached", view.reachable),
        ("pages", f"{view.documents:,} kept here; {_in_network(view)}"),
        ("slots", f"{view.owned} owned, {view.ready} ready to answer, {view.leased} being crawled"),
        ("index", _index(view)),
        ("copies", _copies(view)),
        ("crawler", f"{view.crawl_state}{reason}"),
        ("refuses", _refuses(view)),
        ("fetched", f"{view.fetched:,} since the start, {view.per_s:.1f} a second; {view.frontier:,} waiting"),
        ("scripts", _scripts(view.needs_javascript)),
        ("not taken", view.not_taken),
        ("second looks", view.second_looks),
        ("evidence", view.evidence),
        ("balance", view.balance),
        ("search", view.rules),
        ("text leaf", view.text_leaf),
        ("strategy", f"version {view.strategy_version}{expires}"),
        ("disk", _disk(view)),
        ("scrub", "".join(translator("en")(key, None, **values) for key, values in view.scrub)),
    ]
    return [(name, value) for name, value in facts if value]
