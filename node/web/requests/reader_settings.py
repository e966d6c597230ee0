"""Reads what a reader of the pages has chosen: language, theme, results a page, keyboard shortcuts.

A cookie of the browser holds it, and the node keeps nothing of it. A part of the cookie that is none of ours counts as
not chosen.
"""

from dataclasses import dataclass

from aiohttp import web

from node.web.requests.own_origin import own_cookie

SETTINGS_COOKIE = "dse-settings"
TONGUES, THEMES, RESULTS = ("en", "zh"), ("light", "dark"), (10, 20, 50)


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """Holds the choices of a reader; the defaults are those of a reader without a cookie.

    `tongue`: the language of the pages; "" as the browser asks.
    `theme`: "" as the reader's system has it.
    `results`: how many of them a page shows.
    `has_keys`: whether single keys are shortcuts."""

    tongue: str = ""
    theme: str = ""
    results: int = RESULTS[0]
    has_keys: bool = True


def read_settings(tongue: str, theme: str = "", results: str = "", keys: str = "") -> ReaderSettings:
    """Read choices as a form or a cookie has them."""
    return ReaderSettings(
        tongue if tongue in TONGUES else "",
        theme if theme in THEMES else "",
        next((count for count in RESULTS if str(count) == results), RESULTS[0]),
        keys != "off",
    )


def settings_cookie(settings: ReaderSettings) -> str:
    """Write choices as a cookie's value; "" where they are those of a reader without one."""
    if settings == ReaderSettings():
        return ""
    return f"{settings.tongue}.{settings.theme}.{settings.results}.{'' if settings.has_keys else 'off'}"


def settings_of(request: web.Request) -> ReaderSettings:
    """Return what the reader has chosen who sends a request."""
    return read_settings(*own_cookie(request, SETTINGS_COOKIE).split(".")[:4])


def languages_of(request: web.Request) -> str:
    """Return the languages that a reader wants, as Accept-Language lists them: the chosen one, then the browser's."""
    chosen, accepted = settings_of(request).tongue, request.headers.get("Accept-Language", "")
    return f"{chosen},{accepted}" if chosen else accepted
