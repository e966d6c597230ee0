"""Does the verb web-report: reads the links of the whole network, measures them, and writes a page and JSON about them.

The pages are read into a file beside the report first, as an export does, so a command that broke is given again. That
file is read twice: for numbers, and for the few names that are shown; so names need no memory.
"""

import sys
import time
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from dht import counted
from node.cli.commands.output import print_facts, print_json, write_whole
from node.cli.commands.target_node import client
from node.cli.export_spool import ExportSpool, fetch_answers
from node.errors import NothingToDo
from node.views.safe_text import plain

if TYPE_CHECKING:
    from node.extras.web_report.report import WebReport

ASKED = {"links": "true", "lifetimes": "true"}
NEEDED = ("scipy", "powerlaw")


def web_report(arguments: Namespace) -> int:
    """Write the report; return 1 where a part of the network could not be read."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        problem = f"needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise NothingToDo("web-report", problem, "add it: pipx inject dse-node scipy powerlaw")
    out = Path(arguments.out)
    if out.suffix not in (".html", ".htm"):
        raise NothingToDo("OUT", f"{out.name!r} is not a page", "let it end with .html")
    listed = _listed(arguments.list) if arguments.list is not None else None
    node, spool = client(arguments), ExportSpool(out.with_name(f"{out.name}.pages.part"), ASKED)
    spool.read_again()
    try:
        fetch_answers(node, spool, lambda: [[*ASKED.items()]], [])
    finally:
        if not spool.is_whole and spool.pages:
            print(f"{counted(spool.pages, 'page')} kept in {spool.path}: the same command goes on", file=sys.stderr)
    print(f"{counted(spool.pages, 'page')} read, measuring now", file=sys.stderr)
    report = _report(arguments, spool, node.url, listed)
    write_report(out, report)
    _tell(arguments, out, report)
    if spool.unread:
        print("the same command asks for what was not read, and writes the report anew", file=sys.stderr)
        return 1
    spool.path.unlink()
    return 0


def write_report(out: Path, report: "WebReport") -> None:
    """Write the JSON, and then the page."""
    from node.extras.web_report.html_page import html_page

    body, page = msgspec.json.format(msgspec.json.encode(report)) + b"\n", html_page(report).encode()
    write_whole(out.with_suffix(".json"), lambda file: file.write(body))
    write_whole(out, lambda file: file.write(page))


def _listed(path: Path) -> list[str]:
    """The sites of a list."""
    from node.extras.web_report.site_list import read_list

    try:
        return read_list(path.read_text("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise NothingToDo("--list", f"cannot be read: {error}", "write a host in each line") from None


def _report(arguments: Namespace, spool: ExportSpool, node: str, listed: list[str] | None) -> "WebReport":
    """Measure the pages, and write the ranks of all of them, whose names are in no report."""
    from node.extras.web_report.link_table import LinkTable
    from node.extras.web_report.page_life import page_life
    from node.extras.web_report.page_rank import in_links
    from node.extras.web_report.rank_files import write_rank_files
    from node.extras.web_report.rank_processes import ranks_by
    from node.extras.web_report.report import ReportCoverage, measure, report_of

    life = page_life(spool.lifetimes())
    pages = LinkTable(arguments.max_links)
    for page in spool.captures():
        pages.add(page)
    table = pages.table()
    measured = measure(table, ranks_by(arguments.processes, in_links(table.graph), spool.path.parent), arguments.seed)
    names = measured.wanted().look_in(spool.captures())
    write_rank_files(Path(arguments.out), measured, spool.captures())
    unread = {str(part.get("slot")): str(part.get("reason")) for part in spool.unread}
    coverage = ReportCoverage(time.time(), node, dict(spool.left_out), unread)
    return report_of(measured, names, coverage, arguments.seed, life, listed)


def _tell(arguments: Namespace, out: Path, report: "WebReport") -> None:
    if arguments.json:
        print_json(msgspec.to_builtins(report))
        return
    links_in = report.links_in.law
    facts = [
        ("page", f"{out}, with all figures in {out.with_suffix('.json')}"),
        ("pages", f"{report.pages:,} of {counted(report.sites_with_pages, 'site')}"),
        ("links", f"{report.links:,} to {counted(report.urls, 'URL')}"),
        ("links to a URL", f"exponent {links_in.exponent:.2f} ± {links_in.error:.2f}" if links_in else "no power law"),
        ("core", counted(report.parts.core, "page")),
        ("effective diameter", f"{report.distances.effective:.1f} links"),
        ("communities", f"{report.communities.found:,}"),
        ("top site by rank", plain(report.page_rank.sites[0].site) if report.page_rank.sites else "none"),
        ("top page by rank", plain(report.page_rank.pages[0].url) if report.page_rank.pages else "none"),
    ]
    print_facts(facts)
    for slot, reason in report.coverage.unread.items():
        print(f"not read: slot {plain(slot)}: {plain(reason)}", file=sys.stderr)
