"""Chooses the language of a page, and looks its words up.

The words are data: `node/web/texts/en.toml` and `zh.toml`, read once. A page asks for `t("results.total", total=…)`.
Both files have every key with the same {values}, and every key is used; a test checks that.
"""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from node.web.requests.asker_language import by_preference

Tongue = Literal["en", "zh"]
Translate = Callable[..., str]


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


def translator(tongue: Tongue) -> Translate:
    """Return a function from a key and its values to a text; `otherwise` stands in for a key without translation."""
    texts = texts_of(tongue)

    def translate(key: str, otherwise: str | None = None, **values: object) -> str:
        text = texts[key] if otherwise is None else texts.get(key, otherwise)
        return text.format(**values) if values else text

    return translate
