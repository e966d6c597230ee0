"""Writes a strategy, its changes, their effect and its history as people read them: lines for the terminal.

Pure: the plain data of the HTTP contract in, lines out; tolerant of fields that are missing or new. `t` gives the words
of a language by their keys in `node/web/texts`.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from node.views.lenient_json import Json, count, listed, number, table, tables, texts
from node.views.safe_text import plain
from node.views.status import size

INSTANTS = frozenset({"effective_at", "expires_at", "next_at"})
Translate = Callable[..., str]
SHORT = 16  # digits of a key or digest that are shown
MAX_LINES = 50
MAX_PREFIXES = 3  # of a rule, the rest is counted


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
    return "{} {}".format(*span_parts(seconds))


def span_parts(seconds: float) -> tuple[int, str]:
    """Return a length of time as a number of its largest fitting unit."""
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return round(seconds / length), unit
    return round(max(0.0, seconds)), "s"


def admission_words(admission: object) -> str:
    """Say which nodes are members, by the strategy's field of that name."""
    invited = (
        "were invited and that " if admission not in (None, "attested") else ""
    )  # one that is not known: as strict
    return f"nodes that {invited}other members have reached"


def rule_words(rule: Json, t: Translate) -> str:
    """Write a rule in one line: deny *.example.org · pattern /x/ · at most 3 links deep."""
    if rule.get("action") == "unknown":
        return t("rule.unknown")
    words = [_does(rule, t)]
    if rule.get("pattern") is not None:
        words.append(t("rule.pattern", pattern=rule["pattern"]))
    if isinstance(rule.get("slots"), list | tuple) and len(rule["slots"]) == 2:
        words.append(t("rule.slots", first=rule["slots"][0], last=rule["slots"][1]))
    if rule.get("max_depth") is not None:
        words.append(t("rule.depth", count=rule["max_depth"]))
    if rule.get("min_delay_s") is not None:
        words.append(t("rule.delay", seconds=rule["min_delay_s"]))
    return plain(" · ".join(words), 300)


def _does(rule: Json, t: Translate) -> str:
    """Say what a rule does with which hosts."""
    host, action = rule.get("host") or t("rule.any"), str(rule.get("action"))
    if isinstance(rule.get("prefixes"), list | tuple):
        found = [str(each) for each in rule["prefixes"]]
        shown = ", ".join(found[:MAX_PREFIXES])
        rest = len(found) - MAX_PREFIXES
        prefixes = t("rule.prefixes", shown=shown, count=rest) if rest > 0 else shown
        return t("rule.never" if action == "never" else "rule.only", host=host, prefixes=prefixes)
    if isinstance(rule.get("depth"), int):
        return t("rule.spread", host=host, count=2 ** min(rule["depth"], 16))
    if rule.get("peer") is not None:
        return t("rule.prefer", host=host, node=str(rule["peer"])[:SHORT])
    known = {"owners": "rule.crawl", "deny": "rule.deny"}
    return t(known[action], host=host) if action in known else f"{action} {host}"


def change_lines(changes: Json, t: Translate) -> Iterator[tuple[str, str]]:
    """Yield what two strategies differ in: (name, "before → after"), then rules that were added (+) and removed (-)."""
    fields, rules = tables(changes, "fields"), tables(changes, "rules")
    for change in fields[:MAX_LINES]:
        name = str(change.get("field"))
        before, after = change.get("before"), change.get("after")
        if isinstance(before, list | tuple) and isinstance(after, list | tuple):
            yield from _list_change(name, list(before), list(after), t)
        else:
            yield name, f"{_value(name, before)} → {_value(name, after)}"
    for change in rules[:MAX_LINES]:
        sign = "+" if change.get("change") == "added" else "-"
        yield f"{sign} {t('change.rule', number=change.get('number'))}", rule_words(table(change, "rule"), t)
    if len(rules) > MAX_LINES:
        yield "", t("change.rules.more", count=len(rules) - MAX_LINES)
    if not fields and not rules:
        yield t("change.nothing"), t("change.same")


def effect_lines(effect: Json, t: Translate) -> Iterator[tuple[str, str]]:
    """Yield what a change would move, as a node previewed it: (name, text)."""
    slots, copies = table(effect, "parts"), table(effect, "copies")
    yield from _member_lines(effect, t)
    share = f"{100 * number(table(effect, 'key_space'), 'changed'):.1f}"
    changed, all_slots = f"{count(slots, 'changed'):,}", f"{count(slots, 'all'):,}"
    yield t("effect.space"), t("effect.space.changed", share=share, changed=changed, all=all_slots)
    moved, whole = f"{count(copies, 'moved'):,}", f"{count(copies, 'all'):,}"
    percent = f"{100 * number(copies, 'share'):.1f}"
    yield t("effect.copies"), t("effect.copies.moved", moved=moved, all=whole, share=percent)
    if alone := count(copies, "without"):
        yield t("effect.alone"), t("effect.alone.slots", count=f"{alone:,}")
    yield t("effect.pages"), _total(table(effect, "documents"), lambda n: f"{n:,}", t)
    yield t("effect.bytes"), _total(table(effect, "bytes"), size, t)
    yield from _host_lines(table(effect, "hosts"), t)
    for note in texts(effect, "notes"):
        yield t("effect.note"), note


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


def _member_lines(effect: Json, t: Translate) -> Iterator[tuple[str, str]]:
    stay, lost = [plain(node, SHORT) for node in listed(effect.get("stay"))], tables(effect, "lost")
    if not lost:
        return
    names, whole = ", ".join(stay[:MAX_LINES]) or t("effect.nobody"), len(stay) + len(lost)
    yield t("effect.stay"), t("effect.stay.members", count=f"{len(stay):,}", all=f"{whole:,}", names=names)
    for entry in lost[:MAX_LINES]:
        yield t("effect.lost"), plain(f"{str(entry.get('node'))[:SHORT]}: {entry.get('reason')}", 300)
    if len(lost) > MAX_LINES:
        yield "", t("strategy.more", count=f"{len(lost) - MAX_LINES:,}")


def _list_change(name: str, before: list[object], after: list[object], t: Translate) -> Iterator[tuple[str, str]]:
    for item in [item for item in before if item not in after][:MAX_LINES]:
        yield f"- {name}", _item(item)
    for item in [item for item in after if item not in before][:MAX_LINES]:
        yield f"+ {name}", _item(item)
    if sorted(map(str, before)) == sorted(map(str, after)):
        yield name, t("change.order")


def _item(item: object) -> str:
    """Write an entry of a list; of a table its names and values, an instant by its day."""
    if not isinstance(item, dict):
        return plain(item, 80)
    values = (f"{key} {instant(value) if key == 'at' else value}" for key, value in item.items())
    return plain(", ".join(values), 120)


def _host_lines(hosts: Json, t: Translate) -> Iterator[tuple[str, str]]:
    about = t("effect.looked", urls=f"{count(hosts, 'urls'):,}", slots=count(hosts, "slots_looked_at"))
    urls, pages, many = (count(hosts, f"denied_{what}") for what in ("urls", "documents", "hosts"))
    if urls:
        figures = {"hosts": _some_hosts(many, t), "urls": f"{urls:,}", "pages": f"{pages:,}"}
        yield t("effect.denied"), f"{t('effect.denied.hosts', **figures)} ({about})"
        for entry in tables(hosts, "denied")[:MAX_LINES]:
            found = {name: entry.get(name) for name in ("host", "urls", "documents", "rule")}
            yield "", plain(t("effect.denied.host", **found), 300)
    else:
        yield t("effect.denied"), f"{t('effect.denied.nothing')} ({about})"
    if allowed := count(hosts, "allowed_urls"):
        yield t("effect.allowed"), t("effect.allowed.urls", count=f"{allowed:,}")
    if moved := count(hosts, "fetched_by_others_hosts"):
        yield t("effect.crawled"), t("effect.crawled.others", hosts=_some_hosts(moved, t))
        for entry in tables(hosts, "fetched_by_others")[:MAX_LINES]:
            before, after = (
                str(entry.get(side) or "")[:SHORT] or t("effect.crawled.unknown") for side in ("before", "after")
            )
            yield "", plain(f"{entry.get('host')}: {before} → {after}", 300)


def _total(counts: Json, words: Callable[[int], str], t: Translate) -> str:
    """Write a total, and how well it is known."""
    total = count(counts, "moved")
    if not total:
        return t("effect.none")
    ways = [way for way in ("counted", "reported", "estimated") if count(counts, way)]
    known = ", ".join(t(f"effect.{way}", count=words(count(counts, way))) for way in ways)
    return f"{t('effect.total', count=words(total))} ({known})"


def _some_hosts(many: int, t: Translate) -> str:
    return t("effect.host" if many == 1 else "effect.hosts", count=f"{many:,}")


def _value(name: str, value: object) -> str:
    return instant(value) if name in INSTANTS else plain(value, 80)
