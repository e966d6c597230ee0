"""Writes a strategy, its changes, their effect and its history as people read them: lines for the terminal.

Pure: the plain data of the HTTP contract in, lines out; tolerant of fields that are missing or new.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from crawl import prefix_words
from node.views.lenient_json import Json, count, listed, number, table, tables, texts
from node.views.safe_text import counted, plain
from node.views.status import size

INSTANTS = frozenset({"effective_at", "expires_at", "next_at"})
SHORT = 16  # digits of a key or digest that are shown
MAX_LINES = 50


def instant(at: object) -> str:
    """Write an instant in Unix seconds to the minute, UTC; "-" where it is none."""
    if not isinstance(at, int | float) or not 0 < at < 253_402_300_800:  # the year 10000
        return "-"
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def clock(at: float) -> str:
    """Write the time of day of an instant in Unix seconds, to the second, UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


def span(seconds: float) -> str:
    """Write a length of time in its largest fitting unit: 3 days, 5 h, 40 min, 12 s."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def admission_words(admission: object) -> str:
    """Say which nodes are members, by the strategy's field of that name."""
    invited = (
        "were invited and that " if admission not in (None, "attested") else ""
    )  # one that is not known: as strict
    return f"nodes that {invited}other members have reached"


def rule_words(rule: Json) -> str:
    """Write a rule in one line: deny *.example.org · pattern /x/ · at most 3 links deep."""
    if rule.get("action") == "unknown":
        return "a rule of a newer version, which matches nothing here"
    if isinstance(rule.get("prefixes"), list | tuple):
        return plain(_address_rule(rule, prefix_words([str(each) for each in rule["prefixes"]])), 300)
    action = {"owners": "crawl"}.get(str(rule.get("action")), str(rule.get("action")))
    if rule.get("peer") is not None:
        action = f"node {str(rule['peer'])[:SHORT]} fetches"
    if isinstance(rule.get("depth"), int):
        action = f"spread over {2 ** min(rule['depth'], 16)} places"
    words = [f"{action} {rule.get('host') or 'every host'}"]
    if rule.get("pattern") is not None:
        words.append(f"pattern {rule['pattern']}")
    if isinstance(rule.get("slots"), list | tuple) and len(rule["slots"]) == 2:
        words.append(f"slots {rule['slots'][0]} to {rule['slots'][1]}")
    if rule.get("max_depth") is not None:
        words.append(f"at most {rule['max_depth']} links deep")
    if rule.get("min_delay_s") is not None:
        words.append(f"{rule['min_delay_s']} s between two requests")
    return plain(" · ".join(words), 300)


def _address_rule(rule: Json, prefixes: str) -> str:
    host = rule.get("host") or "every host"
    if rule.get("action") == "never":
        return f"fetch {host} never at addresses in {prefixes}"
    return f"fetch {host} only at addresses in {prefixes}"


def change_lines(changes: Json) -> Iterator[tuple[str, str]]:
    """Yield what two strategies differ in: (name, "before → after"), then rules that were added (+) and removed (-)."""
    fields, rules = tables(changes, "fields"), tables(changes, "rules")
    for change in fields[:MAX_LINES]:
        name = str(change.get("field"))
        before, after = change.get("before"), change.get("after")
        if isinstance(before, list) and isinstance(after, list):
            yield from _list_change(name, before, after)
        else:
            yield name, f"{_value(name, before)} → {_value(name, after)}"
    for change in rules[:MAX_LINES]:
        sign = "+" if change.get("change") == "added" else "-"
        yield f"{sign} rule {change.get('number')}", rule_words(table(change, "rule"))
    if len(rules) > MAX_LINES:
        yield "", f"and {len(rules) - MAX_LINES} more changes of rules"
    if not fields and not rules:
        yield "nothing", "both say the same"


def effect_lines(effect: Json) -> Iterator[tuple[str, str]]:
    """Yield what a change would move, as a node previewed it: (name, text)."""
    slots, copies, hosts = table(effect, "parts"), table(effect, "copies"), table(effect, "hosts")
    share = 100 * number(table(effect, "key_space"), "changed")
    changed, all_slots = count(slots, "changed"), count(slots, "all")
    yield from _member_lines(effect)
    yield "key space", f"{share:.1f} % gets a new owner ({changed:,} of {all_slots:,} slots)"
    percent = 100 * number(copies, "share")
    yield (
        "copies",
        f"{count(copies, 'moved'):,} of {count(copies, 'all'):,} slot copies must be made ({percent:.1f} %)",
    )
    if alone := count(copies, "without"):
        yield "without a copy", f"{alone:,} slots: no member that stays keeps what lies in them"
    yield "pages", _total(table(effect, "documents"), lambda n: f"{n:,}")
    yield "bytes", _total(table(effect, "bytes"), size)
    yield from _host_lines(hosts)
    for note in texts(effect, "notes"):
        yield "note", note


def log_lines(log: Json) -> Iterator[str]:
    """Yield one line for each version of a strategy's history, and one more for each fork of it."""
    versions = tables(log, "versions")
    for entry in versions:
        marks = ["in force"] if entry.get("in_force") is True else []
        if entry.get("changes_publishers") is True:
            many = len(texts(entry, "publishers"))
            marks.append(f"publishers from here on: {entry.get('threshold')} of {many}")
        signers = ", ".join(key[:SHORT] for key in texts(entry, "signed_by")) or "nobody"
        words = [
            f"{plain(entry.get('version'), 10):>5}",
            str(entry.get("digest"))[:SHORT],
            instant(entry.get("effective_at")),
        ]
        line = f"{'  '.join(words)}  signed by {signers}" + (f"  ({'; '.join(marks)})" if marks else "")
        yield plain(line, 300)
        for rival in texts(entry, "forks"):
            yield f"       {rival[:SHORT]}  fork: signed for the same version, not kept"


def _member_lines(effect: Json) -> Iterator[tuple[str, str]]:
    stay, lost = [plain(node, SHORT) for node in listed(effect.get("stay"))], tables(effect, "lost")
    if not lost:
        return
    names = ", ".join(stay[:MAX_LINES]) or "nobody"
    yield "stay", f"{len(stay):,} of {len(stay) + len(lost):,} present members: {names}"
    for entry in lost[:MAX_LINES]:
        yield "lost", plain(f"{str(entry.get('node'))[:SHORT]}: {entry.get('reason')}", 300)
    if len(lost) > MAX_LINES:
        yield "", f"and {len(lost) - MAX_LINES:,} more"


def _list_change(name: str, before: list[object], after: list[object]) -> Iterator[tuple[str, str]]:
    for item in [item for item in before if item not in after][:MAX_LINES]:
        yield f"- {name}", plain(item, 80)
    for item in [item for item in after if item not in before][:MAX_LINES]:
        yield f"+ {name}", plain(item, 80)
    if sorted(map(str, before)) == sorted(map(str, after)):
        yield name, "the same in another order"


def _host_lines(hosts: Json) -> Iterator[tuple[str, str]]:
    about = f"of {count(hosts, 'urls'):,} addresses looked at, in the {count(hosts, 'slots_looked_at')} slots here"
    urls, pages, many = (count(hosts, f"denied_{what}") for what in ("urls", "documents", "hosts"))
    if urls:
        addresses = f"{urls:,} known addresses, {pages:,} pages, which are dropped ({about})"
        yield "denied", f"{counted(many, 'host')}: {addresses}"
        for entry in tables(hosts, "denied")[:MAX_LINES]:
            words = f"{entry.get('urls')} addresses, {entry.get('documents')} pages, by rule {entry.get('rule')}"
            yield "", plain(f"{entry.get('host')}: {words}", 300)
    else:
        yield "denied", f"nothing ({about})"
    if allowed := count(hosts, "allowed_urls"):
        yield "allowed", f"{allowed:,} known addresses that were denied"
    if moved := count(hosts, "fetched_by_others_hosts"):
        yield "crawled by", f"another node: {counted(moved, 'host')}"
        for entry in tables(hosts, "fetched_by_others")[:MAX_LINES]:
            before, after = (str(entry.get(side) or "")[:SHORT] or "not known yet" for side in ("before", "after"))
            yield "", plain(f"{entry.get('host')}: {before} → {after}", 300)


def _total(counts: Json, words: Any) -> str:
    """Write a total, and how well it is known."""
    total = count(counts, "moved")
    if not total:
        return "none"
    sources = {"counted": "counted here", "reported": "reported by peers", "estimated": "estimated"}
    known = ", ".join(f"{words(count(counts, way))} {said}" for way, said in sources.items() if count(counts, way))
    return f"about {words(total)} to be copied ({known})"


def _value(name: str, value: object) -> str:
    return instant(value) if name in INSTANTS else plain(value, 80)
