"""Decides whether a page is shown to searchers, readers and programs. Nothing else decides that.

Pure: a page's records in, the answer out. Three things hide a page:

- Its DOCUMENT says that the page is gone.
- Its VISIT says that robots.txt bars it (`Visit.barred_at`). One field of a small record says so: to hide a large site
  and to show it again rewrites no page.
- The strategy, or the owner of its site, denies it (`store/record/denial.py`). Denials are filters of every read, and
  never versions, so that they end when they are taken back.
"""

from crawl import Visit, decode_visit
from store import Document, Record, RecordDenial, decode_document


def visit_in(record: Record | None) -> Visit | None:
    """Return the visit in a VISIT record, None where there is none."""
    return decode_visit(record.body) if record is not None else None


def is_shown(document: Document, visit: Visit | None, denial: str) -> bool:
    """Tell whether a page is shown. `visit`: None where nothing is known of its URL; `denial`: why the page is denied,
    "" where it is not."""
    return not (document.gone or is_withheld(visit, denial))


def is_withheld(visit: Visit | None, denial: str) -> bool:
    """Tell whether a page must not be shown whatever its DOCUMENT says. Of a page that is not withheld, programs may
    read at least that it is gone."""
    return bool(denial) or (visit is not None and visit.is_hidden)


def shown_document(page: Record | None, visit: Visit | None, denial: RecordDenial) -> Document | None:
    """Return the document of a page where it is shown, given its record and its visit; None where it is not."""
    if page is None or is_withheld_page(page, visit, denial):  # most pages that are hidden need not be decoded
        return None
    document = decode_document(page.body)
    return document if is_shown(document, None, "") else None


def is_withheld_page(page: Record | None, visit: Visit | None, denial: RecordDenial) -> bool:
    """Tell whether a page must not be shown whatever its DOCUMENT says, given its record and its visit."""
    return is_withheld(visit, denial.reason(page) if page is not None else "")


def may_turn(visit: Visit) -> bool:
    """Tell whether a new VISIT may hide its page or show it again: robots.txt bars the page, or has barred it once."""
    return visit.barred_at != 0
