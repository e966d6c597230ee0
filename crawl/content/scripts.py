"""Tells a page whose text comes by script, and one that a script moves on: nobody runs scripts here.

Pure: a source and the characters that were read of it in. The root elements are those that React, Vue, Angular, Svelte,
Next, Nuxt, Ember and Quasar have by default.
"""

import re

NEEDS_SCRIPT = "needs JavaScript, which is not run"
FEW_CHARS = 200  # outside scripts: a name, a notice that it loads, a request for JavaScript
_MAX_CHARS = 200_000  # of a source; applications have next to no markup
_SCRIPT = re.compile(r"<script\b[^>]*\b(?:src\s*=|type\s*=\s*[\"']?module\b)", re.IGNORECASE)
_ROOT = re.compile(
    r"<(?:[a-z]+\s[^>]*\bid\s*=\s*[\"']?(?:root|app|application|main-app|app-root|react-root|__next|__nuxt|___gatsby|"
    r"q-app|svelte|ember-app)[\"'\s>/]|[a-z]+\s[^>]*\bng-(?:app|version)\b|app-[a-z-]+[\s>]|[a-z]+-(?:app|root)[\s>])",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"<noscript\b(?:(?!</noscript).)*?\bjava\s?script\b", re.IGNORECASE | re.DOTALL)
SCRIPT_BEGIN = 200  # characters of a script's tag and of what stands before its first word
_SCRIPT_MOVE = re.compile(
    r"<script\b[^>]*>\s*(?:(?:window|document|self|top|parent)\.)*location"
    r"(?:(?:\.href)?\s*=\s*|\.(?:replace|assign)\s*\(\s*)([\"'])([^\"'\s<>]+)\1\s*\)?\s*;?\s*</script",
    re.IGNORECASE,
)


def needs_script(html: str, chars: int) -> bool:
    """Tell whether a page has its text by script. `chars`: of all text that was read of it."""
    if chars >= FEW_CHARS:
        return False
    html = html[:_MAX_CHARS]
    return _SCRIPT.search(html) is not None and (_ROOT.search(html) or _REQUEST.search(html)) is not None


def script_move(source: str) -> str:
    """Return the reference to where a script without a condition moves readers at once, "" where none does."""
    at = source.find("location")
    while at >= 0:
        start = source.rfind("<", max(0, at - SCRIPT_BEGIN), at)
        found = _SCRIPT_MOVE.match(source, start) if start >= 0 else None
        if found and source.rfind("<!--", 0, start) <= source.rfind("-->", 0, start):
            return found[2]
        at = source.find("-->", start) if found else at  # a script in a comment: what follows that is looked at
        at = source.find("location", at + 1) if at >= 0 else -1
    return ""
