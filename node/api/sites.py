"""The bodies of what is known of sites: pages stored, last visit, change rate, failures, and who crawls them.

Pure: values only.
"""

from node.api.body import ResponseBody
from node.api.slots import NamedMember


class SiteEntry(ResponseBody):
    """One site. `known`: its URLs; `pages`: those stored; `failing`: those that failed when they were last asked for;
    `visited_at`: Unix seconds, null for never; `changes_per_year`: of one of its pages, the mean; null where none was
    seen twice."""

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
