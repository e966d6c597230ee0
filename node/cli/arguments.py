"""Describes the verbs of the command line with their options, and names the function that does each.

Nothing that a verb needs is imported here, so that help and a wrong option are answered at once.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from node.cli.argument_types import Between, Ordered, Share, lengths
from node.version import VERSION

Parser = argparse.ArgumentParser
Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"

_ABOUT = """\
A web search engine that nobody owns: crawler, store, index and peer of one network in one daemon.

  try it           dse-node demo
  start your own   dse-node init && dse-node run
  fill it          dse-node crawl https://example.org/ --depth 2
  ask it           dse-node search "words to find", or the page at http://127.0.0.1:8090/
"""
_CODES = (
    "Exit codes: 0 ok, 1 failed or the node does not run, 2 usage, 78 bad configuration. Reading verbs take --json."
)

_RULES = (  # options of `strategy draft` that become rules of the crawl, in the order of the command line
    ("deny", "HOST", 'a host, or URL prefix, that nobody crawls or keeps; "*.HOST" for it and all below'),
    ("prefer", "HOST=NODEID", "a host that one node crawls where it is a live owner"),
    ("spread", "HOST=D", "a big site that lies in 2^D places"),
    ("rule", "JSON", "any rule"),
)


def build_parser() -> Parser:
    """Return the parser of all verbs, with their help; `verb` names the function that does one, as module:function."""
    keeps_lines = argparse.RawDescriptionHelpFormatter
    parser = Parser("dse-node", description=_ABOUT, epilog=_CODES, formatter_class=keeps_lines)
    parser.add_argument("--version", action="version", version=f"{parser.prog} {VERSION}", help="print the version")
    parser.set_defaults(verb=None, data_dir=None, config=None, url=None, json=False)
    verbs = parser.add_subparsers(metavar="VERB", title="verbs")
    _add_staying(verbs)
    _add_setup(verbs)
    _add_asking(verbs)
    _add_networks(verbs)
    _add_invitations(verbs)
    _add_strategies(verbs)
    return parser


def _verb(verbs: Verbs, name: str, target: str, about: str, example: str = "") -> Parser:
    shown = f"example: {example}" if example else None
    verb = verbs.add_parser(name, help=about, description=about, epilog=shown)
    verb.set_defaults(verb=target)
    return verb


def _family(verbs: Verbs, name: str, about: str) -> Verbs:
    """Add a verb that has verbs of its own; alone it prints its help."""
    family = verbs.add_parser(name, help=about, description=about)
    family.set_defaults(parser=family)
    return family.add_subparsers(metavar="VERB", title="verbs")


def _place(verb: Parser, *, url: bool = False, json: bool = False) -> None:
    """Add the options that say which node is meant, and --json."""
    verb.add_argument("--data-dir", metavar="DIR", help="the node's directory (default: this system's own place)")
    verb.add_argument("--config", metavar="FILE", help="its configuration (default: config.toml in that directory)")
    if url:
        verb.add_argument("--url", metavar="URL", help="its web listener (default: as configured)")
    if json:
        _json(verb)


def _json(verb: Parser) -> None:
    verb.add_argument("--json", action="store_true", help="print JSON for programs")


def _repeatable(
    verb: Parser,
    option: str,
    metavar: str,
    about: str,
    *,
    dest: str | None = None,
    type: Callable[[str], object] = str,
    required: bool = False,
) -> None:
    dest, about = dest or option.strip("-").replace("-", "_"), f"{about}; repeatable"
    verb.add_argument(
        option, dest=dest, action="append", default=[], type=type, required=required, metavar=metavar, help=about
    )


def _add_staying(verbs: Verbs) -> None:
    demo = _verb(verbs, "demo", "run:demo", "show a network of real processes on this machine", "dse-node demo --once")
    demo.add_argument("--nodes", type=Between(1, 9), default=5, metavar="N", help="how many nodes, 1 to 9 (default 5)")
    demo.add_argument("--once", action="store_true", help="check every promise, report and end")
    demo.add_argument("--port", type=Between(1024, 60000), default=8090, metavar="P", help="first web port (8090)")
    demo.add_argument("--web", type=Path, metavar="DIR", help="a folder of sites, one subfolder a host, to be crawled")
    demo.add_argument("--queries", type=Path, metavar="FILE", help='JSON: [{"q": "words", "expect": "URL"}, …]')
    _json(demo)
    example = "dse-node simulate --nodes 50 --hours 1 --seed 7"
    simulate = _verb(verbs, "simulate", "simulate:simulate", "run many nodes in memory under virtual time", example)
    about = "how many; over 200 their overlays alone (50)"
    simulate.add_argument("--nodes", type=Between(1, 5000), default=50, metavar="N", help=about)
    simulate.add_argument("--hours", type=Share(1000.0), default=1.0, metavar="H", help="of their time (default 1)")
    simulate.add_argument("--seed", type=int, default=1, metavar="S", help="decides everything by chance (default 1)")
    simulate.add_argument("--loss", type=Share(0.5), default=0.0, metavar="P", help="share of packets lost (0)")
    simulate.add_argument("--churn", type=lengths, metavar="S,A", help="mean session and absence, such as 8h,16h")
    simulate.add_argument("--partition", type=lengths, metavar="T,L", help="cut in halves after T, for L: 1h,10m")
    simulate.add_argument("--nat", type=Share(0.9), default=0.0, metavar="P", help="share of nodes behind a NAT (0)")
    _json(simulate)
    _place(_verb(verbs, "run", "run:run", "run the node until it is told to stop", "dse-node run"))
    _add_service(verbs)
    bare = _verb(verbs, "bootstrap", "run:bare_overlay", "run a first contact: the overlay alone, without data")
    bare.add_argument("--network", required=True, metavar="FILE", help="the network file")
    bare.add_argument("--port", type=Between(1, 65535), metavar="P", help="UDP and TCP port (default 8091)")
    bare.add_argument("--data-dir", metavar="DIR", help="where it keeps its identity and its peers")
    bare.add_argument("--listen-v4", metavar="IP", help='IPv4 address, "" for none (default 0.0.0.0)')
    bare.add_argument("--listen-v6", metavar="IP", help='IPv6 address, "" for none (default ::)')
    bare.add_argument("--allow-private", action="store_true", help="let private addresses take part: test networks")


def _add_service(verbs: Verbs) -> None:
    service = _family(verbs, "service", "have systemd start the node, watch it and start it again")
    about = "write the unit, say what to do next"
    install = _verb(service, "install", "service:install", about, "dse-node service install --user")
    install.add_argument("--print", action="store_true", dest="is_dry", help="print the unit, write nothing")
    remove = _verb(service, "remove", "service:remove", "take the unit away; the node and what it keeps stay")
    status = _verb(service, "status", "service:status", "say whether the unit is there and runs")
    for verb in (install, remove, status):
        whose = verb.add_mutually_exclusive_group()
        whose.add_argument("--user", action="store_true", help="of your own account (default)")
        whose.add_argument("--system", action="store_true", help="of the machine; its data lies in /var/lib/dse-node")
    _place(install)
    _json(status)


def _add_setup(verbs: Verbs) -> None:
    example = "dse-node init --network campus.toml --yes"
    init = _verb(verbs, "init", "setup:init", "make a node on this machine", example)
    init.add_argument("--network", metavar="FILE|URL", help="network file to join (default: a new private network)")
    about = "what lets the node in, where the network file holds no invitation: seven words, or a file"
    init.add_argument("--invitation", metavar='"WORDS"|FILE', default="", help=about)
    init.add_argument("--profile", choices=("guest", "server", "campus"), default="server", help="how much it may use")
    init.add_argument("--name", default="private", help="name of the new private network (default: private)")
    _repeatable(init, "--set", "KEY=VALUE", "a setting, such as node.web_port=8190")
    init.add_argument("--yes", action="store_true", help="ask nothing, as where no terminal is")
    _place(init, json=True)
    identity = _family(verbs, "identity", "the key that a node is known by")
    _place(_verb(identity, "show", "setup:identity_show", "print node id and public key"), json=True)
    _add_backups(verbs)
    store = _family(verbs, "store", "what a node keeps on its disk")
    about = "read all that a stopped node keeps, and say what is wrong"
    _place(_verb(store, "verify", "store:verify", about, "dse-node store verify"), json=True)
    about = "have a running node read all that it keeps at once, and fetch from others what is damaged"
    _place(_verb(store, "scrub", "store:scrub", about, "dse-node store scrub"), url=True, json=True)
    paths = _verb(verbs, "paths", "setup:paths", "print where a node keeps what")
    paths.add_argument("--keys", action="store_true", help="print every key of config.toml with default and reason")
    _place(paths, json=True)
    _json(_verb(verbs, "version", "setup:version", "print the version"))
    about = "print what lets a shell complete verbs, options and files"
    shell = _verb(verbs, "completion", "completion:completion", about, "dse-node completion bash")
    shell.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell that reads it")
    _verb(verbs, "man", "manual:man", "print the manual page", "dse-node man")


def _add_backups(verbs: Verbs) -> None:
    example = "dse-node backup /media/disk --with-identity"
    backup = _verb(verbs, "backup", "backups:make", "copy a node, which may run, into one file", example)
    backup.add_argument("target", metavar="FILE|DIR", help="a new file; in a directory it gets a name")
    _place(backup)
    example = "dse-node restore node.dse ~/dse-node --with-identity"
    restore = _verb(verbs, "restore", "backups:put_back", "make a node's directory from a backup", example)
    restore.add_argument("file", metavar="FILE", help="what `backup` wrote")
    restore.add_argument("dir", metavar="DIR", help="a new directory")
    restore.add_argument("--yes", action="store_true", help="do not ask whether its network is yours")
    about = "with its identity: its hook, traces, addresses and all else that runs, opens or sends, too, unasked"
    restore.add_argument("--trust-settings", action="store_true", help=about)
    for verb in (backup, restore):
        about = "the node's key, settings, invitations and publishers' keys too, closed by a pass phrase"
        verb.add_argument("--with-identity", action="store_true", help=about)
        verb.add_argument("--passphrase-file", metavar="FILE", help="where the pass phrase lies; else it is asked for")


def _add_asking(verbs: Verbs) -> None:
    example = "dse-node search '\"a phrase\" site:example.org' --limit 5"
    search = _verb(verbs, "search", "query_node:search", "search the network", example)
    search.add_argument("query", nargs="+", help="words, phrases, site:host, lang:zh, OR, -without")
    search.add_argument("--limit", type=Between(1, 100), default=10, metavar="N", help="results, 1 to 100 (default 10)")
    search.add_argument("--lang", default="", metavar="CODE", help="only this language, such as en or zh")
    search.add_argument("--site", default="", metavar="HOST", help="only this host and those below it")
    search.add_argument("--sort", choices=("relevance", "date"), default="relevance", help="date: the newest first")
    search.add_argument("--explain", action="store_true", help="say how each score came about")
    _place(search, url=True, json=True)
    _place(_verb(verbs, "status", "query_node:status", "print the state of the node"), url=True, json=True)
    _place(_verb(verbs, "peers", "query_node:peers", "print the members of the network"), url=True, json=True)
    _add_doctor(verbs)
    about = "print a link that logs your browser in as the owner's, once, within five minutes"
    _place(_verb(verbs, "open", "query_node:open_page", about, "dse-node open"), url=True, json=True)
    top = _verb(verbs, "top", "top:top", "watch the node at work; one time only where no terminal is", "dse-node top")
    top.add_argument("--every", type=Between(1, 60), default=2, metavar="S", help="seconds between looks (default 2)")
    _place(top, url=True, json=True)
    _add_crawl(verbs)
    _add_archive(verbs)
    about = "serve the AI client that started it: search, and read stored pages, by MCP on standard input and output"
    _place(_verb(verbs, "mcp", "mcp:serve", about, "dse-node mcp --url http://127.0.0.1:8090"), url=True)
    example = "dse-node remove https://example.org/private/"
    remove = _verb(verbs, "remove", "query_node:remove", "have pages of your own site removed everywhere", example)
    remove.add_argument("prefix", metavar="URL-PREFIX", help="all that begins so; a file at the site must name it")
    _place(remove, url=True, json=True)
    pause = _verb(verbs, "pause", "query_node:pause", "stop this node's fetching", "dse-node pause 2h")
    pause.add_argument("duration", nargs="?", default="", metavar="DURATION", help="such as 30m or 2h; else for good")
    _place(pause, url=True)
    _place(_verb(verbs, "resume", "query_node:resume", "fetch again"), url=True)
    about = "leave the network for good: hand everything over, then end the node"
    leave = _verb(verbs, "leave", "leaving:leave", about, "dse-node leave")
    leave.add_argument("--now", action="store_true", help="hand nothing over: say what is at risk; ends with --yes")
    leave.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")
    _place(leave, url=True)


def _add_doctor(verbs: Verbs) -> None:
    about = "look for what keeps the node, running or not, from doing all that it should, and say what helps"
    doctor = _verb(verbs, "doctor", "doctor:doctor", about, "dse-node doctor --bundle report.json")
    about = "show a report without addresses, keys and URLs, then write it, for whom you ask for help"
    doctor.add_argument("--bundle", metavar="FILE", help=about)
    doctor.add_argument("--with-addresses", action="store_true", help="leave addresses and URLs in it")
    _place(doctor, url=True, json=True)
    about = "say which version this is, which runs, and whether the network asks for a newer one; asks nobody else"
    update = _verb(verbs, "update", "doctor:update", about, "dse-node update --check")
    update.add_argument("--check", action="store_true", help="look only, which is all that it does")
    _place(update, url=True, json=True)


def _add_crawl(verbs: Verbs) -> None:
    example = "dse-node crawl https://a.org/docs/ --depth 3 --scope prefix --wait"
    crawl = _verb(verbs, "crawl", "crawl:crawl", "hand URLs to the network, or ask about one", example)
    crawl.add_argument("urls", nargs="*", metavar="URL", help="where to begin; https:// where no scheme is given")
    crawl.add_argument("--depth", type=Between(0, 100), default=0, metavar="N", help="links to follow from there (0)")
    about = (
        "where those links may lead: the URL's host, its registrable domain, addresses that begin as the URL "
        "does up to its last /, or anywhere (whole, the default)"
    )
    crawl.add_argument("--scope", choices=("host", "domain", "prefix", "whole"), default="whole", help=about)
    about = "URLs, one a line, or the responses of a .warc[.gz]"
    _repeatable(crawl, "--from", "FILE", about, dest="files", type=Path)
    _repeatable(crawl, "--sitemap", "URL", "its pages are seeds", dest="sitemaps")
    crawl.add_argument("--dry-run", action="store_true", help="say what would be handed in and what not; write nothing")
    crawl.add_argument("--explain", metavar="URL", help="would it be fetched, by whom, when, why not; hands in nothing")
    crawl.add_argument("--wait", action="store_true", help="until each URL and what it led to has an outcome")
    _place(crawl, url=True, json=True)


def _add_archive(verbs: Verbs) -> None:
    archive = _family(verbs, "archive", "what the network keeps, for other programs")
    example = "dse-node archive export --site example.org example.warc.gz"
    export = _verb(archive, "export", "archive:export", "write pages of the whole network to a file", example)
    export.add_argument(
        "out", metavar="OUT", help="its ending says the format: .wacz, .warc.gz, .jsonl, .spf or .parquet"
    )
    export.add_argument("--site", default="", metavar="HOST", help="only this host and those below it")
    export.add_argument("--prefix", default="", metavar="URL", help="only URLs that begin so")
    export.add_argument("--query", default="", metavar="Q", help="only the results of a search")
    export.add_argument("--parquet", action="store_true", help="write Parquet, whatever OUT is called")
    export.add_argument("--at", default="", metavar="DATE", help="pages as they were at the end of 2026-11-24")
    export.add_argument("--all-versions", action="store_true", help="all versions that are kept, with --at up to then")
    _place(export, url=True, json=True)
    example = "dse-node archive import CC-MAIN-2026.warc.gz --dry-run"
    take = _verb(archive, "import", "archive_import:take", "bring pages from archives into the network", example)
    about = "WARC, Common Crawl's WET too, WACZ, JSON lines, SPF, .webop or .webo; packed or not"
    take.add_argument("files", nargs="+", metavar="FILE", help=about, type=Path)
    take.add_argument("--dry-run", action="store_true", help="say what would be taken and what not; write nothing")
    take.add_argument("--crawl", action="store_true", help="have their addresses fetched anew, too, without links")
    _place(take, url=True, json=True)
    about = "measure the web that the network keeps, and write a page about its shape"
    shape = _verb(verbs, "web-report", "web_report:web_report", about, "dse-node web-report shape.html")
    shape.add_argument("out", metavar="OUT", help="the page, an HTML file; JSON with all figures is written beside it")
    shape.add_argument("--seed", type=int, default=1, metavar="S", help="decides what is drawn by chance (default 1)")
    about = "what is beyond is left out, and said to be (default 10 million: 2 GB of memory)"
    shape.add_argument("--max-links", type=Between(1, 200_000_000), default=10_000_000, metavar="N", help=about)
    _place(shape, url=True, json=True)


def _add_networks(verbs: Verbs) -> None:
    network = _family(verbs, "network", "the file that makes a network one")
    example = "dse-node network new campus --out campus.toml --bootstrap 192.0.2.1:8091"
    new = _verb(network, "new", "networks:new", "make a network: its file and two publisher keys", example)
    new.add_argument("name", help="what people call it")
    new.add_argument("--out", required=True, metavar="FILE", help="the network file; the keys are written beside it")
    _repeatable(new, "--bootstrap", "IP:PORT", "a first contact")
    _repeatable(new, "--seed", "NAME:PORT", "the same by name")
    new.add_argument("--info-url", default="", metavar="URL", help="page for site owners, named in User-Agent")
    _repeatable(new, "--prefix", "CIDR", "private addresses in use")
    new.add_argument("--replicas", type=Between(1, 16), metavar="N", help="copies of every page (default 3)")
    new.add_argument("--slot-bits", type=Between(4, 16), metavar="N", help="2^N parts of the key space (default 8)")
    new.add_argument("--min-acks", type=Between(1, 16), metavar="N", help="copies that a write waits for (default 2)")
    about = "for strangers: identities cost work, newcomers wait for votes; says what that costs and does not stop"
    new.add_argument("--open", action="store_true", help=about)
    about = "that work, 2^N hashes (default 0; open 20)"
    new.add_argument("--puzzle-bits", type=Between(0, 28), metavar="N", help=about)
    _json(new)
    about = "make this node the first of its network: it starts though nobody answers"
    _place(_verb(network, "begin", "networks:begin", about))
    about = "say that a node will not be back, so that its part goes to others at once: signs the next strategy"
    gone = _verb(network, "gone", "drafts:gone", about, "dse-node network gone NODEID --key campus.publisher.key")
    gone.add_argument("node", metavar="NODEID", help="its 40 digits, as `peers --json` shows them")
    _repeatable(gone, "--key", "FILE", "a publisher's key", required=True)
    gone.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")
    _place(gone, url=True)
    show = _verb(network, "show", "networks:show", "check a network file and print what it says")
    show.add_argument("file", nargs="?", metavar="FILE", help="default: the node's own")
    _place(show, json=True)


def _add_invitations(verbs: Verbs) -> None:
    example = "dse-node invite --uses 3 --days 7 --out for-ann.toml"
    invite = _verb(verbs, "invite", "invitations:invite", "let others into a network by invitation", example)
    invite.add_argument("--uses", type=Between(1, 1000), default=1, metavar="N", help="for how many nodes (default 1)")
    invite.add_argument("--days", type=Between(1, 366), default=7, metavar="D", help="how long it is valid (default 7)")
    form = invite.add_mutually_exclusive_group(required=True)
    form.add_argument("--out", metavar="FILE", help="write a network file that holds it, for `init --network FILE`")
    form.add_argument("--words", action="store_true", help="print seven words; they count while this node runs")
    about = "a publisher's key (default: one in the node's directory, or the node's own where it may invite)"
    invite.add_argument("--key", metavar="FILE", help=about)
    _place(invite, json=True)
    example = "dse-node accept for-ann.toml"
    accept = _verb(verbs, "accept", "invitations:accept", "give this node another invitation", example)
    accept.add_argument("invitation", nargs="+", metavar="WORD|FILE", help="seven words, or a file that holds it")
    _place(accept)


def _add_strategies(verbs: Verbs) -> None:
    strategy = _family(verbs, "strategy", "the signed document that says what the network does")
    about = "print the strategy in force; with --json a draft for the next"
    _place(_verb(strategy, "show", "strategies:show", about), url=True, json=True)
    _add_draft(strategy)
    _add_diff(strategy)
    example = "dse-node strategy sign draft.json --key campus.publisher.key --out signed.json"
    sign = _verb(strategy, "sign", "drafts:sign", "preview a draft's effect, then sign it; or add a signature", example)
    sign.add_argument("draft", metavar="DRAFT", help="JSON, as `strategy draft` writes it")
    _repeatable(sign, "--key", "FILE", "a publisher's key", required=True)
    sign.add_argument("--out", metavar="FILE", help="default: standard output")
    sign.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")
    _place(sign, url=True)
    publish = _verb(strategy, "publish", "strategies:publish", "give a signed strategy to the network")
    publish.add_argument("signed", metavar="SIGNED", help="what `strategy sign` wrote")
    _place(publish, url=True, json=True)
    about = "print every version: digest, signers, when, changes of publishers, forks"
    _place(_verb(strategy, "log", "strategies:log", about), url=True, json=True)


def _add_draft(strategy: Verbs) -> None:
    example = 'dse-node strategy draft --set replicas=4 --deny "*.example.org" --effective-in 1h --out draft.json'
    draft = _verb(strategy, "draft", "drafts:make", "write the next version, from the newest known", example)
    draft.add_argument("--from", dest="source", metavar="FILE", help="a signed version (default: the node's newest)")
    draft.add_argument("--out", metavar="FILE", help="default: standard output")
    draft.add_argument("--force", action="store_true", help="write over FILE")

    _repeatable(draft, "--set", "FIELD=VALUE", "a field, such as replicas=4; lists as JSON")
    for option, metavar, about in _RULES:
        about = f"{about}; put first; repeatable"
        draft.add_argument(f"--{option}", action=Ordered, dest="rules", metavar=metavar, help=about)
    _repeatable(draft, "--drop-rule", "N", "without rule N", type=Between(1, 1000))
    _repeatable(draft, "--block", "NODEID", "nobody speaks with this node")
    _repeatable(draft, "--gone", "NODEID", "this node will not be back; if it is, it is a newcomer")
    _repeatable(draft, "--unblock", "NODEID", "speak with it again")
    _repeatable(draft, "--admit", "KEY[=DAY]", "who may invite, too, by its public key, until a day (2027-01-31)")
    _repeatable(
        draft,
        "--revoke",
        "ID[=DAY]",
        "a voucher or key, or what `peers` shows of it: nobody new by it, none let in since a day",
    )
    about = "who may import pages, by its public key (`identity show`); in a network by invitation every member may"
    _repeatable(draft, "--importer", "KEY", about)
    _repeatable(draft, "--no-importer", "KEY", "it may not any more; what it imported stays")
    _repeatable(draft, "--publisher", "KEY", "who signs the version after this one, all of them: hex, or a key file")
    draft.add_argument("--slot-bits", metavar="N|auto", help="2^N slots; auto: 16 to 64 for each member, never fewer")
    draft.add_argument("--members", type=Between(1, 10_000_000), metavar="N", help="how many there are, for auto")
    draft.add_argument("--effective-in", metavar="TIME", help="90s, 30m, 12h, 7d (default: at once)")
    draft.add_argument("--next-in", metavar="TIME", help="when the version after it may be expected (180d)")
    draft.add_argument("--expires-in", metavar="TIME", help="until when it is meant to hold (366d)")
    _place(draft, url=True)


def _add_diff(strategy: Verbs) -> None:
    example = "dse-node strategy diff draft.json --effect"
    diff = _verb(strategy, "diff", "drafts:diff", "what a draft or signed document changes", example)
    about = "a draft or signed document; against the one in force where B is not given"
    diff.add_argument("file", metavar="A", help=about)
    diff.add_argument("other", nargs="?", metavar="B", help="another: what B changes of A")
    diff.add_argument("--effect", action="store_true", help="ask the node what it moves: owners, pages, bytes, hosts")
    _place(diff, url=True, json=True)
