"""Chooses the language of a page, and looks its words up.

The words are data: `node/web/texts/en.toml` and `zh.toml`, read once. A page asks for `t("results.total", total=…)`.
Both files have every key with the same {values}, and every key is used; a test checks that.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from node.views.strategy import span_parts
from node.web.requests.asker_language import by_preference

Tongue = Literal["en", "zh"]


@cache
def texts_of(tongue: Tongue) -> Mapping[str, str]:
    """Return the words of the pages in a language, by key."""
    found = tomllib.loads((files("node.web") / "texts" / f"{tongue}.toml").read_text("utf-8"))
    return msgspec.convert(found, dict[str, str])


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

    def span(self, seconds: float) -> str:
        """Write a length of time in its largest fitting unit."""
        count, unit = span_parts(seconds)
        return self(f"span.{unit}", None, count=count)


def _written(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) else value


def translator(tongue: Tongue) -> Translate:
    """Return what looks the words of the pages up in a language."""
    return Translate(texts_of(tongue))
