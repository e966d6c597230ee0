"""Describes the verbs archive export and archive import; `node/extras/__init__.py` names this module."""

from pathlib import Path

from node.cli.verb_building import Verbs, add_family, add_place, add_verb


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs archive export and archive import."""
    archive = add_family(verbs, "archive", "what the network keeps, for other programs")
    example = "dse-node archive export --site example.org example.warc.gz"
    export = add_verb(
        archive,
        "export",
        "node.extras.archive.export_verb:export",
        "write pages of the whole network to a file",
        example,
    )
    export.add_argument(
        "out", metavar="OUT", help="its ending says the format: .wacz, .warc.gz, .jsonl, .spf or .parquet"
    )
    export.add_argument("--site", default="", metavar="HOST", help="only this host and those below it")
    export.add_argument("--prefix", default="", metavar="URL", help="only URLs that begin so")
    export.add_argument("--query", default="", metavar="Q", help="only the results of a search")
    export.add_argument("--parquet", action="store_true", help="write Parquet, whatever OUT is called")
    export.add_argument("--at", default="", metavar="DATE", help="pages as they were at the end of 2026-11-24")
    export.add_argument("--all-versions", action="store_true", help="all versions that are kept, with --at up to then")
    add_place(export, url=True, json=True)
    example = "dse-node archive import CC-MAIN-2026.warc.gz --dry-run"
    take = add_verb(
        archive, "import", "node.extras.archive.import_verb:take", "bring pages from archives into the network", example
    )
    about = "WARC, Common Crawl's WET too, WACZ, JSON lines, SPF, .webop or .webo; packed or not"
    take.add_argument("files", nargs="+", metavar="FILE", help=about, type=Path)
    take.add_argument("--dry-run", action="store_true", help="say what would be taken and what not; write nothing")
    take.add_argument("--crawl", action="store_true", help="have their addresses fetched anew, too, without links")
    add_place(take, url=True, json=True)
