"""Says what becomes of a stored page that robots.txt bars. It is hidden at once and erased some days later.

So one mistake in a site's robots.txt does not cost its pages. `crawl/pipeline/fetch_outcome.py` applies it.
"""

BARRED_PAGE_KEPT_S = 7 * 86_400.0  # so long a barred page stays on disk
BARRED_AGAIN_S = 86_400.0  # until the rules are looked at again for such a page
