"""Judges what a running node says of itself, as `dse-node doctor` shows it: what, how it is, and the remedy.

Pure: the answers of /api/v1/status, /peers and /strategy in, findings out; what they lack is no finding.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Literal

from dht import counted
from node.views.lenient_json import Json, count, number, table, tables, texts
from node.views.peers import CLOCK_OFF_S
from node.views.safe_text import plain
from node.views.silence import silence_of
from node.views.status import size, view_of

Health = Literal["good", "look", "bad"]

MAX_NAMED = 4  # of the nodes whose heartbeats are refused
NEARLY_FULL = 0.9  # of the quota: new pages end soon
LEAST_FILES, ENOUGH_FILES = 1024, 4096  # a node of 384 fetches, some hundred peers and as many segments takes 1,000
SOON_S = 14 * 86_400.0  # before a strategy's end; signing and spreading the next takes its publishers days
ADMITTED_S = 900.0  # a newcomer that members reach owns something within minutes
CLOCK_EXACT_S = 5.0  # what is read off a heartbeat, which is up to ten seconds old, is right to within so much


@dataclass(frozen=True, slots=True)
class Finding:
    """Says of one thing how it is and, where it is not good, what helps."""

    name: str
    health: Health
    found: str
    remedy: str = ""

    def json(self) -> dict[str, str]:
        """Return the finding for programs."""
        return asdict(self)


def fault_finding(name: str, error: object, otherwise: str = "") -> Finding:
    """Make a finding of an error, whose words end with the remedy. `otherwise`: the remedy where they name none."""
    problem, _, remedy = str(error).rpartition("; ")
    return Finding(name, "bad", problem or remedy, remedy if problem else otherwise)


def findings_of(status: Json, peers: list[Json], strategy: Json, now: float) -> Iterator[Finding]:
    """Yield what a running node's answers come to. `now`: Unix seconds; `strategy`: the one in force."""
    yield _peers(status)
    yield _clock(status)
    yield _heartbeats(status)
    yield from _ports(status)
    yield _quota(status)
    yield files_finding(table(status, "open_files").get("limit"), table(status, "open_files").get("open"))
    yield _sync(status)
    yield _copies(status)
    yield version_finding(status, peers, strategy)
    yield _text_leaf(status)
    yield _strategy(strategy, now)
    for fault in tables(status, "faults"):
        what = "; ".join(plain(fault.get(part, "")) for part in ("cause", "what_stops"))
        yield Finding("machine", "bad", what, plain(fault.get("remedy", "")))


def files_finding(limit: object, is_open: object = None) -> Finding:
    """Judge how many files a process may have open at once; None for any number."""
    if not isinstance(limit, int):
        return Finding("open files", "good", "no limit is set")
    used = f", {is_open:,} open" if isinstance(is_open, int) else ""
    health: Health = "bad" if limit < LEAST_FILES else "look" if limit < ENOUGH_FILES else "good"
    remedy = "LimitNOFILE=65536 in the unit, or ulimit -Hn 65536 before `dse-node run`"
    return Finding("open files", health, f"{limit:,} allowed{used}", "" if health == "good" else remedy)


def strategy_finding(version: int, expires_at: float, now: float) -> Finding:
    """Judge how long a strategy is meant to hold."""
    if not expires_at:
        return Finding("strategy", "good", f"version {version}, without an end")
    days = (expires_at - now) / 86_400
    if days < 0:
        remedy = "its publishers must sign the next one: dse-node strategy draft"
        return Finding("strategy", "bad", f"version {version} ended {-days:,.0f} days ago and stays in force", remedy)
    if expires_at - now < SOON_S:
        remedy = "remind its publishers of the next one: dse-node strategy draft"
        return Finding("strategy", "look", f"version {version} ends in {days:,.0f} days", remedy)
    return Finding("strategy", "good", f"version {version}, for another {days:,.0f} days")


def _peers(status: Json) -> Finding:
    others, live = _others(status), count(table(status, "peers"), "live")
    if not others:
        apart = [
            each for each in texts(status, "warnings", 600) if each.startswith("this node is a network of its own")
        ]
        found, _, remedy = (apart[0] if apart else "none: this node is the only member of its network").partition(". ")
        return Finding("peers", "look" if apart else "good", found, remedy)
    found = f"{live:,} of {others:,} other members answer"
    if live >= others:
        return Finding("peers", "good", found)
    remedy = silence_of(status).text or "check this machine's network and firewall; `dse-node peers` lists the members"
    return Finding("peers", "look" if 2 * live >= others else "bad", found, remedy)


def _others(status: Json) -> int:
    """Count the other members, of whom those that answer are some; a client is not a member itself."""
    return max(count(status, "members") - (status.get("role") != "client"), count(table(status, "peers"), "live"))


def _clock(status: Json) -> Finding:
    clock = table(status, "clock")
    behind_s, peers = number(clock, "behind_s"), count(clock, "peers")
    if not peers:
        return Finding("clock", "look" if _others(status) else "good", "no peer has reported its clock recently")
    if abs(behind_s) <= CLOCK_EXACT_S:
        return Finding("clock", "good", f"within {CLOCK_EXACT_S:.0f} s, by {counted(peers, 'peer')}")
    how = f"{abs(behind_s):.0f} s {'behind' if behind_s > 0 else 'ahead'}, by {counted(peers, 'peer')}"
    health: Health = "bad" if abs(behind_s) > CLOCK_OFF_S else "look"
    return Finding("clock", health, how, "set it, by NTP: timedatectl set-ntp true")


def _heartbeats(status: Json) -> Finding:
    """Judge whether the strategy's rules make members refuse this node, or this node refuse others."""
    if own := plain(status.get("refused_here", "")):
        found, _, remedy = own.partition("; ")
        return Finding("heartbeats", "bad", found, remedy)
    refused = tables(status, "refused_heartbeats")
    if not refused:
        return Finding("heartbeats", "good", "the strategy's rules refuse none")
    named = [f"{plain(each.get('peer', ''))[:16]}: {plain(each.get('reason', ''))}" for each in refused[-MAX_NAMED:]]
    remedy = (
        "if they belong to your network, a publisher declares their prefixes, or lowers puzzle_bits: docs/publisher.md"
    )
    return Finding("heartbeats", "look", f"refused from {counted(len(refused), 'node')}; {'; '.join(named)}", remedy)


def _ports(status: Json) -> Iterator[Finding]:
    """Judge each family of address by what peers found that dialled back."""
    reachable, is_client = table(status, "reachable"), status.get("role") == "client"
    states = {family: plain(table(reachable, family).get("state", "")) for family in ("ipv4", "ipv6")}
    is_reached, is_alone = "reachable" in states.values(), not _others(status)
    for family, state in states.items():
        if family not in reachable:
            continue
        name = f"port {family.replace('ip', 'IP')}"
        text = plain(table(reachable, family).get("text", "")) or state
        if state == "reachable":
            yield Finding(name, "good", "reachable: a peer could dial back")
        elif state == "unknown":
            is_fine = is_reached or is_alone
            remedy = "" if is_fine else "wait a minute for peers to try; each family needs a peer that has it"
            yield Finding(name, "good" if is_fine else "look", f"not tested: {text}", remedy)
        else:
            health: Health = "look" if is_reached or not is_client else "bad"
            remedy = "forward node.peer_port, UDP and TCP, to this machine; let it through its firewall"
            yield Finding(name, health, text, remedy)


def _quota(status: Json) -> Finding:
    disk = table(status, "disk")
    used, quota, refuses = number(disk, "used"), number(disk, "quota"), plain(disk.get("refuses", "") or "")
    found = f"{size(used)} of {size(quota)}" if quota else f"{size(used)}, without a quota"
    if refuses:
        return Finding("quota", "bad", f"{found}: {refuses}", "raise store.quota_bytes, or make room on the disk")
    if quota and used > NEARLY_FULL * quota:
        return Finding("quota", "look", found, "raise store.quota_bytes soon: a full node takes no new pages")
    return Finding("quota", "good", found)


def _sync(status: Json) -> Finding:
    """Judge how many of its slots a node answers for, and say how long the others take at the pace so far."""
    slots, up_s = table(status, "slots"), number(status, "up_s")
    owned, ready = count(slots, "owned"), count(slots, "ready")
    if status.get("role") == "client":
        return Finding("sync", "good", "a client stores nothing for others")
    if leaving := view_of(status).leaving:
        return Finding("sync", "look", f"leaving: {leaving}", "wait; `dse-node leave` shows the progress")
    if not owned:
        remedy = "wait until it is admitted; `dse-node status` shows the reason"
        health: Health = "bad" if up_s > ADMITTED_S else "look"
        return Finding("sync", health, "it owns no part of the network yet", remedy)
    if ready >= owned:
        return Finding("sync", "good", f"all {counted(owned, 'slot')} ready to answer")
    left_s = up_s * (owned - ready) / ready if ready else 0.0
    about = f", the rest in some {max(1.0, left_s / 60):,.0f} min at the pace so far" if left_s else ""
    return Finding(
        "sync", "look", f"{ready:,} of {counted(owned, 'slot')} ready{about}", "wait; it compares with its peers"
    )


def _copies(status: Json) -> Finding:
    few = count(status, "under_replicated")
    if not few:
        return Finding("copies", "good", "every slot has all its copies")
    remedy = "keep this node running: it copies them"
    if not count(table(status, "peers"), "live"):
        remedy = "keep this node running: copies are made when another member answers"
    return Finding("copies", "look", f"{counted(few, 'slot')} with too few copies", remedy)


def version_finding(status: Json, peers: list[Json], strategy: Json) -> Finding:
    """Judge a release by what the network asks of it: peers do not say theirs."""
    version, mine = plain(status.get("version", "")), count(table(status, "strategy"), "version")
    if unknown := texts(strategy, "not_understood"):
        found = f"{version}, which does not know what the strategy asks for: {', '.join(unknown)}"
        return Finding("version", "bad", found, "update this node")
    ahead = sum(count(peer, "strategy_version") > mine for peer in peers if peer.get("live") is True)
    if ahead:
        remedy = "wait a minute; where that stays, update this node"
        return Finding("version", "look", f"{version}; {ahead:,} peers go by a newer strategy than {mine}", remedy)
    return Finding("version", "good", f"{version}, which knows all that the strategy asks for")


def _text_leaf(status: Json) -> Finding:
    state = plain(status.get("text_leaf", "")) or "unknown"
    remedy = "to parse and index faster, install anew where a C compiler and Python's headers are (gcc, python3-dev)"
    is_compiled = state == "compiled"
    return Finding("text leaf", "good" if is_compiled else "look", state, "" if is_compiled else remedy)


def _strategy(strategy: Json, now: float) -> Finding:
    finding = strategy_finding(count(strategy, "version"), number(strategy, "expires_at"), now)
    warnings = [each for each in texts(strategy, "warnings") if "expire" not in each]
    if warnings and finding.health == "good":
        return Finding("strategy", "look", "; ".join(warnings), "`dse-node strategy log` shows all versions")
    return finding


WAYS = (  # what the path of an installed program tells, and what puts a newer one in its place
    ("/usr/lib/dse-node", "sudo apt install ./NEW.deb"),
    ("/pipx/", "pipx runpip dse-node install --upgrade NEW.whl"),
    ("/uv/tools/", "uv pip install --python PREFIX --upgrade NEW.whl"),
    ("/opt/dse-node", "build the image anew, and start the container from it"),
)


def way_of(prefix: str) -> str:
    """Say how a program that lies in `prefix` is updated (docs/volunteer.md has all ways)."""
    return next(
        (way for part, way in WAYS if part in f"{prefix}/"), "pip install --upgrade NEW.whl, where it was installed"
    )


def update_findings(
    command: str, prefix: str, status: Json, peers: list[Json], strategy: Json, why: object = "it does not run"
) -> Iterator[Finding]:
    """Yield what is known of versions. `command`: this program's, in `prefix`; `status`: empty where no node answers,
    and then `why`. Nobody else is asked, and peers do not say their versions."""
    yield Finding("command", "good", f"{command}, in {prefix}")
    if not status:
        yield fault_finding("node", why, "start it: dse-node run")
        return
    runs = plain(status.get("version", ""))
    if runs == command:
        yield Finding("node", "good", f"{runs} runs")
    else:
        yield Finding("node", "look", f"{runs} runs", f"start it anew, so that {command} does")
    asked = version_finding(status, peers, strategy)
    yield replace(asked, name="network", remedy=f"{asked.remedy}: {way_of(prefix)}" if asked.remedy else "")
