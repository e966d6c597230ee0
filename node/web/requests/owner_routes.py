"""Lists the routes of the owner's pages, which only the owner reads.

Pure: values only.
"""

from dataclasses import replace
from typing import get_args

from node.owner.figure_history import Span
from node.sites.asked_removals import MAX_PREFIX
from node.web.requests.routes import (
    BEGINS,
    FIND,
    FROM,
    HTML,
    INTERFACE,
    MAX_DEPTH,
    MAX_URL,
    MAX_URLS,
    ORDER,
    SLOTS,
    HttpRoute,
    Parameter,
)

_SPAN = Parameter("span", "how far back", default="hour", choices=get_args(Span))
_AFTER = Parameter("after", "`next` of the page before", most=270)
_SHOW = Parameter("show", "only sites that are failing, paused or due", most=8)
_SITES = (
    BEGINS,
    _SHOW,
    _AFTER,
    Parameter("accepted", "how many URLs a form handed in", "count", 0, 0, MAX_URLS),
    Parameter("refused", "why a form's URL was not taken", most=500),
)
_CRAWL = (
    Parameter("url", "an address", default=None, most=MAX_URL),
    Parameter("depth", "how many links to follow", "count", 0, 0, MAX_DEPTH),
    Parameter("scope", "how far: host, domain, prefix or whole", default="host", most=16),
    Parameter("every", "submit it again: daily or weekly", most=16),
    Parameter("exclude", "patterns of addresses to leave out, one a line", most=MAX_URL),
)
_SETTING = Parameter("setting", "the setting to explain and to change, such as crawl.hours", most=80)
_SET = (
    Parameter("setting", "its name, such as crawl.hours", default=None, most=80),
    Parameter("value", "its value; of several, with blanks between them", most=8192),
    Parameter("simple", "the value is in the unit of its control on the page", "flag", False),
)
_SETTINGS = (
    _SETTING,
    Parameter("accepted", "when the setting that a form sent is in force: now or later", most=8),
    Parameter("refused", "why it was not taken", most=500),
)
_ANSWERS = (
    Parameter("network", "file or URL of a network to join, and words of an invitation", most=MAX_URL),
    Parameter("disk", "the most disk space to use, such as 50 GB", most=80),
    Parameter("rate", "the most to download in a second, such as 500 kB/s", most=80),
    Parameter("hours", "when to crawl, such as 22:00-07:00", most=200),
    Parameter("site", "the address of the site to crawl first", most=MAX_URL),
    Parameter("skip", "answer nothing", "flag", False),
)
_REPORT_FLAW = Parameter("report_flaw", "why no web report is made", most=500)
_WISH = (
    BEGINS,
    _SHOW,
    _AFTER,
    Parameter("held", "the host to be paused", most=MAX_URL),
    Parameter("refused", "the host to be refused", most=MAX_URL),
    Parameter("free", "the host to be allowed again", most=MAX_URL),
    Parameter("host", "the host of `wish`, where none of the others is given", most=MAX_URL),
    Parameter("wish", "held or refused", most=16),
)

_MEMBERS = (FIND, replace(ORDER, default="trouble"), FROM)
_SLOTS_ON_PAGE = (*SLOTS, Parameter("slots_from", "leave out this many of the first slots", "count", 0, 0, 1 << 16))


def _owner(path: str, name: str, about: str, *parameters: Parameter) -> HttpRoute:
    return HttpRoute("GET", f"/owner{path}", name, about, HTML, parameters=parameters, needs_token=True)


def _owners_form(path: str, name: str, about: str, *fields: Parameter) -> HttpRoute:
    return HttpRoute("POST", f"/owner{path}", name, about, HTML, needs_token=True, form=fields)


OWNER_ROUTES: tuple[HttpRoute, ...] = (
    _owner("", "owner_overview", "The owner's page: state and figures over time", _SPAN, INTERFACE),
    _owner(
        "/network",
        "owner_network",
        "The owner's page of the network's members",
        *_MEMBERS,
        *_SLOTS_ON_PAGE,
        INTERFACE,
    ),
    _owner("/sites", "owner_sites", "The owner's page of the sites that wait", *_SITES, INTERFACE),
    _owner("/work", "owner_work", "The owner's page of jobs, copies and log", _REPORT_FLAW, INTERFACE),
    _owner("/settings", "owner_settings", "The owner's page of settings", *_SETTINGS, INTERFACE),
    _owner("/welcome", "owner_welcome", "The first questions to the owner of a new node", INTERFACE),
    _owners_form("/welcome", "owner_answer", "Take the answers to the first questions, or skip them", *_ANSWERS),
    _owners_form("/pause", "owner_pause", "Pause fetching, or go on", Parameter("paused", "1 or 0", "flag", None)),
    _owners_form("/sites/crawl", "owner_crawl", "Hand a URL in, to be crawled", *_CRAWL),
    _owners_form("/settings", "owner_set", "Change a setting in the node's file, and at once where that can be", *_SET),
    _owners_form(
        "/jobs/cancel", "owner_cancel", "End a crawl job", Parameter("number", "of the job", "count", None, 1, 1 << 20)
    ),
    _owners_form("/sites/wish", "owner_wish", "Pause a host, refuse it, or allow it again", *_WISH),
    _owners_form(
        "/removals/dismiss",
        "owner_dismiss",
        "Forget a request to remove pages",
        Parameter("pages", "as the request names them", default=None, most=MAX_PREFIX),
    ),
    HttpRoute("GET", "/owner.css", "owner_style", "The style sheet of the owner's pages", "text/css"),
    HttpRoute("GET", "/owner.js", "owner_script", "The script of the owner's pages", "text/javascript"),
)
