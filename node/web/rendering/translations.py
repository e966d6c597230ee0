"""Chooses the language of a page, and looks its words up.

The node gives its reasons, needs and refusals in English; pages find their texts by their shapes (`Translate.reason`).
The words are data: `node/web/texts/en.toml` and `zh.toml`, read once. A page asks for `t("results.total", total=…)`.
Both files have every key with the same {values}, and every key is used; a test checks that.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Literal

import msgspec

from node.views.strategy import span_parts
from node.web.requests.asker_language import by_preference

Tongue = Literal["en", "zh"]
REASON = "reason."  # begins the keys of what the node says of itself, in the order in which they are tried
VAGUE = frozenset(("reason.counted", "reason.place"))  # these shapes also fit sentences that nobody knows
COUNTS = frozenset(("count", "due", "more", "fetched"))  # values of a reason that are numbers
LONG = frozenset(("reason", "why", "remedy"))  # values that may have several clauses
SHORT = frozenset(("host", "free"))  # values before which there may be a place and a colon
PARTS = LONG | {"time", "silent", "way", "what"}  # values that have a text of their own


@cache
def texts_of(tongue: Tongue) -> Mapping[str, str]:
    """Return the words of the pages in a language, by key."""
    found = tomllib.loads((files("node.web") / "texts" / f"{tongue}.toml").read_text("utf-8"))
    return msgspec.convert(found, dict[str, str])


@cache
def _reasons() -> Mapping[str, re.Pattern[str]]:
    """Return how each reason of the node looks in English, by the key of its text."""
    return {key: _shape(text) for key, text in texts_of("en").items() if key.startswith(REASON)}


def _shape(text: str) -> re.Pattern[str]:
    """Return what matches a text with any values filled in, of one thing or of several."""
    pattern = ""
    for literal, name, _, _ in Formatter().parse(text):
        pattern += re.sub(r"^(\\ \w+?)s\b", r"\1s?", re.escape(literal)) if pattern else re.escape(literal)
        clause = r"(?:(?!; |: ).)+" if name in SHORT else r"(?:(?!; ).)+"
        filled = r"[0-9,]+" if name in COUNTS else ".+" if name in LONG else clause
        pattern += f"(?P<{name}>{filled})" if name else ""
    return re.compile(pattern)


def choose(wanted: str, accepted: str) -> Tongue:
    """Choose the language of a page: the `hl` parameter where it names one, else the better of Accept-Language."""
    for code in (wanted, *by_preference(accepted)):
        language = code.lower().replace("_", "-").partition("-")[0]
        if language == "zh":
            return "zh"
        if language == "en":
            return "en"
    return "en"


class Translate:
    """Looks texts up in one language. Whole numbers among their values get thousands separators."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, key: str, otherwise: str | None = None, **values: object) -> str:
        """Return the text of a key with its values filled in; `otherwise` stands in for a key without a text."""
        text = self._texts[key] if otherwise is None else self._texts.get(key, otherwise)
        return text.format(**{name: _written(value) for name, value in values.items()}) if values else text

    def count(self, key: str, count: int, **values: object) -> str:
        """Return the text of a key about a number of things: that of `key.one` for a single one."""
        return self(f"{key}.one" if count == 1 else key, None, count=count, **values)

    def reason(self, text: str) -> str:
        """Return a reason that the node gives in English in this language, as far as its parts are known. Of clauses
        between semicolons each is looked up by itself where the whole is not known."""
        if self._texts is texts_of("en"):
            return text
        first, mark, rest = text.partition("; ")
        for key, shape in _reasons().items():
            if (found := shape.fullmatch(text)) and not (mark and key in VAGUE):
                given = found.groupdict()
                values = {name: self.reason(each) if name in PARTS else each for name, each in given.items()}
                if key not in VAGUE or values != given:
                    return self(key, None, **values)
        return f"{self.reason(first)}{self('sign.semicolon')}{self.reason(rest)}" if mark else text

    def span(self, seconds: float) -> str:
        """Write a length of time in its largest fitting unit."""
        count, unit = span_parts(seconds)
        return self(f"span.{unit}", None, count=count)


def _written(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) else value


def translator(tongue: Tongue) -> Translate:
    """Return what looks the words of the pages up in a language."""
    return Translate(texts_of(tongue))
