"""Describes the verbs archive export and archive import; `node/extras/__init__.py` names this module."""

from pathlib import Path

from node.cli.verb_building import Verbs, add_family, add_place, add_verb


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs archive export and archive import."""
    archive = add_family(verbs, "archive", "export and import pages as archive files")
    example = "dse-node archive export --site example.org example.warc.gz"
    export = add_verb(
        archive,
        "export",
        "node.extras.archive.export_verb:export",
        "write pages of the whole network to a file",
        example,
    )
    export.add_argument(
        "out", metavar="OUT", help="its ending sets the format: .wacz, .warc.gz, .jsonl, .spf or .parquet"
    )
    export.add_argument("--site", default="", metavar="HOST", help="only this host and its subdomains")
    export.add_argument("--prefix", default="", metavar="URL", help="only URLs with this beginning")
    export.add_argument("--query", default="", metavar="Q", help="only the results of a search")
    export.add_argument("--parquet", action="store_true", help="write Parquet, with any name of OUT")
    export.add_argument("--at", default="", metavar="DATE", help="pages as of the end of a day, such as 2026-11-24")
    export.add_argument("--all-versions", action="store_true", help="all stored versions, with --at up to that day")
    add_place(export, url=True, json=True)
    example = "dse-node archive import CC-MAIN-2026.warc.gz --dry-run"
    take = add_verb(archive, "import", "node.extras.archive.import_verb:take", "import pages from archives", example)
    about = "WARC, WET, WACZ, JSON lines, SPF, .webop or .webo; compressed or not"
    take.add_argument("files", nargs="+", metavar="FILE", help=about, type=Path)
    take.add_argument("--dry-run", action="store_true", help="show which pages would be imported; write nothing")
    take.add_argument("--crawl", action="store_true", help="also fetch their addresses again, without links")
    add_place(take, url=True, json=True)
