"""Under which heading of its page a passage stands.

Pure: text in, text out. A page's text has each heading as a line of its own.
"""

from collections.abc import Sequence

MAX_LINES = 400  # before a passage, among which its heading is looked for
MAX_CHARS = 120
_SIGNS = " ¶#"  # of links to the heading itself


def heading_above(body: str, start: int, headings: Sequence[str], title: str) -> str:
    """Return the heading under which a passage stands that begins there; "" where there is none, where the passage
    begins with it, and where it is the title."""
    known = frozenset(headings)
    end = body.find("\n", start)
    if start < 0 or not known or body[body.rfind("\n", 0, start) + 1 : end if end >= 0 else len(body)] in known:
        return ""
    end = body.rfind("\n", 0, start)
    for _ in range(MAX_LINES):
        if end < 0:
            break
        begin = body.rfind("\n", 0, end) + 1
        if body[begin:end] in known:
            found = body[begin:end].rstrip(_SIGNS)[:MAX_CHARS]
            return "" if found.casefold() == title.rstrip(_SIGNS).casefold() else found
        end = begin - 1
    return ""
