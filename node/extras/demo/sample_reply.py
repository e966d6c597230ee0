"""Makes what the sample web answers with: a finished response, and small pages made on the spot.

Pure: values only.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

HTML = "text/html; charset=utf-8"
LISTED_COUNT = 20_000  # links on one generated listing; about 2 MB of HTML


@dataclass(slots=True)
class SampleReply:
    """A finished response; `bodies` by content-coding ("" is the plain one), `mtime` in Unix seconds."""

    status: int
    headers: dict[str, str]
    bodies: dict[str, bytes]
    mtime: int = 0
    stream: str = ""  # "huge" or "drip": the server makes the body as it goes


def reply(status: int, content_type: str, body: bytes = b"", **headers: str) -> SampleReply:
    """Build a response; header names are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return SampleReply(status, {"Content-Type": content_type, **named}, {"": body})


def page(title: str, body: str, status: int = 200, **headers: str) -> SampleReply:
    """Build a small page; traps, errors and listings only: all others are real."""
    head = f'<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title></head>'
    text = f"<!doctype html>{head}<body><h1>{html.escape(title)}</h1>{body}</body></html>"
    return reply(status, HTML, text.encode(), **headers)


def redirect(status: int, location: str, **headers: str) -> SampleReply:
    """Build a redirect to a URL or a path, already percent-encoded."""
    return reply(status, HTML, b"", Location=location, **headers)


def listing(host: str, paths: Sequence[str]) -> SampleReply:
    """Build the start page of a host that has none: a link to each of its pages."""
    rows = "".join(f'<li><a href="{quote(path)}">{html.escape(path)}</a></li>\n' for path in paths[:LISTED_COUNT])
    return page(f"Pages of {host}", f"<ul>\n{rows}</ul>")


@dataclass(slots=True)
class SampleReplyCache:
    """Keeps finished responses of one host, by path and count of changes; all hosts share one budget."""

    budget: "CacheBudget"
    kept: dict[tuple[str, int], SampleReply] = field(default_factory=dict)

    def keep(self, path: str, changes: int, made: SampleReply) -> None:
        """Remember a response while the budget lasts."""
        size = len(made.bodies[""])
        if size <= self.budget.left_bytes:
            self.kept[path, changes] = made
            self.budget.left_bytes -= size


@dataclass(slots=True)
class CacheBudget:
    """Counts the bytes of memory left for finished responses."""

    left_bytes: int
