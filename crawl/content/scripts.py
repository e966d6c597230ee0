"""Tells a page whose text comes by script: nobody runs it here, so the page has next to no text.

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


def needs_script(html: str, chars: int) -> bool:
    """Tell whether a page has its text by script. `chars`: of all text that was read of it."""
    if chars >= FEW_CHARS:
        return False
    html = html[:_MAX_CHARS]
    return _SCRIPT.search(html) is not None and (_ROOT.search(html) or _REQUEST.search(html)) is not None
