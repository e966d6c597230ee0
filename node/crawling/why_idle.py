"""Says why the crawler does what it does, where the node around it knows more than the crawler itself.

Pure: values in, a line out.
"""

from crawl import CrawlStatus


def crawl_reason(crawl: CrawlStatus, owned: int, ready: int, is_current: bool) -> str:
    """Say in one line why the crawler does what it does. `owned`, `ready`: slots of this node; `is_current`: whether
    the frontier knows all that the store does."""
    if crawl.state != "idle":
        return crawl.reason
    if not is_current:
        return "still reads from its store which URLs are known"
    if crawl.slots:
        return crawl.reason
    if not owned:
        return "this node owns no slot of the network"
    if not ready:
        return f"none of the {owned} slots that this node owns is ready yet: it compares them with other owners"
    return f"holds no lease: other owners crawl the {owned} slots that this node owns, or are about to"
