"""The bodies of what is known of sites: pages stored, last visit, change rate, failures, and who crawls them.

Pure: values only.
"""

from node.api.body import ResponseBody
from node.api.slots import NamedMember


class SiteEntry(ResponseBody):
    """One site.
    `pages`: its stored pages.
    `known`: its URLs.
    `failing`: its URLs whose last fetch failed.
    `visited_at`: its last visit in Unix seconds, null for never.
    `changes_per_year`: of one of its pages, on average; null where no page was seen twice."""

    site: str
    pages: int
    known: int
    failing: int
    visited_at: float | None
    changes_per_year: float | None
    crawled_by: list[NamedMember]


class SiteTable(ResponseBody):
    """A page of sites. `matching`: sites that begin as asked, of `all`; `next`: where the next page begins, null at the
    end. `members` counts those of which sites are asked, `answered` those that told theirs; `partial`: not all did.
    `cut`: some members have more sites than they told."""

    sites: list[SiteEntry]
    matching: int
    all: int
    next: int | None
    members: int
    answered: int
    partial: bool
    cut: bool
