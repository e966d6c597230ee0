"""Lists the routes of the publisher's pages, which belong to the owner's.

Pure: values only.
"""

from dataclasses import replace

from node.api.body import Json
from node.web.requests.routes import FILES, FORM, HTML, JSON, MAX_URL, HttpRoute, Parameter

_REFUSED = Parameter("refused", "why a form was not taken", most=500)
_DRAFT = Parameter("draft", "the digest of a draft", default=None, most=64)
_SIGNED = Parameter("signed", "a draft, or a version that publishers signed", default=None, most=1 << 20)
_STRATEGY_PAGE = (
    Parameter("version", "show what this version changed", "count", 0, 0, 1 << 29),
    Parameter("from", "leave out this many of the first rules", "count", 0, 0, 1000),
    Parameter("published", "the version that a form published", "count", 0, 0, 1 << 29),
    _REFUSED,
)
_CHANGE = (
    Parameter("base", "the digest of the version that was shown", most=64),
    Parameter("deny", "a host, *.host, the beginning of addresses, or one address and $", most=MAX_URL + 1),
    Parameter("drop", "the number of a rule to leave out", most=8),
    Parameter("crawled", "the host that `crawler` shall fetch", most=255),
    Parameter("crawler", "a node: its 40 digits, or the name of a member", most=64),
    Parameter("delay", "HOST=SECONDS: how long at least between two requests to a host", most=300),
    Parameter("spread", "HOST=D: a large site that lies in 2^D places", most=300),
    Parameter("only", "prefixes, or HOST=PREFIXES: fetch only from addresses in these", most=2000),
    Parameter("never", "the same: fetch never from addresses in these", most=2000),
    Parameter("block", "a node that nobody shall speak with", most=64),
    Parameter("unblock", "the 40 digits of a blocked node", most=64),
    Parameter("gone", "a node that will not be back: its 40 digits, or the name of a member", most=64),
    Parameter("field", "the name of one field of the strategy", most=64),
    Parameter("value", "its new value", most=2000),
    Parameter("at_once", "sign and publish it where a publisher's key lies here", "flag", False),
)
_SIGN = (
    _DRAFT,
    Parameter("lose", "how many present members are put out, where those are many", "count", 0, 0, 10_000_000),
    Parameter("one_index", "one holder of several shall index each slot", "flag", False),
)
_INTERFACE = Parameter("hl", "the language of the page: en or zh", most=16)


def _page(path: str, name: str, about: str, *parameters: Parameter) -> HttpRoute:
    return HttpRoute(
        "GET", f"/owner/strategy{path}", name, about, HTML, parameters=(*parameters, _INTERFACE), needs_token=True
    )


def _form(path: str, name: str, about: str, *fields: Parameter, form_type: str = FORM) -> HttpRoute:
    return HttpRoute(
        "POST", f"/owner/strategy{path}", name, about, HTML, needs_token=True, form=fields, form_type=form_type
    )


STRATEGY_ROUTES = (
    _page("", "owner_strategy", "The publisher's page: rules, versions, a form", *_STRATEGY_PAGE),
    _page("/draft", "owner_strategy_draft", "What a draft changes and moves", _DRAFT, _REFUSED),
    replace(
        _page("/file", "owner_strategy_file", "A draft as a file, to be signed elsewhere", _DRAFT),
        gives=JSON,
        schema=Json,
    ),
    _form("/change", "owner_strategy_change", "Draft the next version of the strategy", *_CHANGE),
    _form("/sign", "owner_strategy_sign", "Sign a draft here, and publish it", *_SIGN),
    _form("/upload", "owner_strategy_upload", "Hand a signed version in", _SIGNED, form_type=FILES),
)
