"""Describes the verbs of the command line with their options, and names the function that does each.

Nothing that a verb needs is imported here, so that help and a wrong option are answered at once.
"""

import argparse
from importlib import import_module
from pathlib import Path

from node.cli.argument_types import Between, FilterValue
from node.cli.strategy_arguments import add_strategies
from node.cli.verb_building import Parser, Verbs, add_family, add_json, add_place, add_repeatable, add_verb
from node.extras import VERB_MODULES
from node.version import VERSION

_ABOUT = """\
A web search engine that nobody owns: crawler, store, index and peer of one network in one daemon.

  try it           dse-node demo
  start your own   dse-node init && dse-node run
  fill it          dse-node crawl https://example.org/ --depth 2
  ask it           dse-node search "words to find", or the page at http://127.0.0.1:8090/
"""
_CODES = "Exit codes: 0 ok, 1 failed or node not running, 2 usage, 78 bad configuration. Reading verbs take --json."


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
    add_strategies(verbs)
    for module in VERB_MODULES:
        import_module(module).add_verbs(verbs)
    return parser


def _add_staying(verbs: Verbs) -> None:
    run = add_verb(verbs, "run", "run:run", "run the node until it is stopped", "dse-node run")
    add_place(run)
    run.add_argument("--supervise", action="store_true", help="start it again when it fails, where no systemd does")
    add_place(add_verb(verbs, "stop", "process:stop", "stop the node that runs here, and wait until it has ended"))
    logs = add_verb(verbs, "logs", "process:logs", "print the newest lines of the running node's log")
    logs.add_argument("--follow", action="store_true", help="go on with lines as they come, until Ctrl-C")
    add_place(logs, url=True, json=True)
    _add_config(verbs)
    _add_password(verbs)
    _add_service(verbs)
    bare = add_verb(verbs, "bootstrap", "run:bare_overlay", "run a first contact: only the overlay, without data")
    bare.add_argument("--network", required=True, metavar="FILE", help="the network file")
    bare.add_argument("--port", type=Between(1, 65535), metavar="P", help="UDP and TCP port (default 8091)")
    bare.add_argument("--data-dir", metavar="DIR", help="directory for its identity and its peers")
    bare.add_argument("--listen-v4", metavar="IP", help='IPv4 address, "" for none (default 0.0.0.0)')
    bare.add_argument("--listen-v6", metavar="IP", help='IPv6 address, "" for none (default ::)')
    bare.add_argument("--allow-private", action="store_true", help="accept private addresses, for test networks")


def _add_config(verbs: Verbs) -> None:
    config = add_family(verbs, "config", "read and change the node's settings")
    get = add_verb(config, "get", "settings:show", "print settings in force", "dse-node config get crawl.hours")
    get.add_argument("key", nargs="?", metavar="NAME", help="one, such as crawl.hours, or a group, such as crawl")
    about = "change a setting in config.toml; a running node applies it at once if it can"
    put = add_verb(config, "set", "settings:put", about, "dse-node config set crawl.hours 22:00-07:00")
    put.add_argument("key", metavar="NAME", help="as `config get` lists it")
    put.add_argument("value", nargs="*", metavar="VALUE", help="as config.toml has it; texts without quotation marks")
    for verb in (get, put):
        add_place(verb, url=True, json=True)
    about = "call you now, as a test, in each way that hook.ntfy, hook.mail, hook.url and hook.command set"
    add_place(add_verb(verbs, "hook", "settings:call_owner", about, "dse-node hook"))


def _add_password(verbs: Verbs) -> None:
    password = add_family(verbs, "password", "let browsers on other machines log in by a password")
    about = "set a password, in place of the one before; its logins end at once"
    put = add_verb(password, "set", "settings:set_password", about, "dse-node password set")
    put.add_argument("--stdin", action="store_true", help="read it as one line of the input (default: ask twice)")
    remove = add_verb(password, "remove", "settings:remove_password", "remove a password; its logins end at once")
    for verb in (put, remove):
        about = "the password that shows the owner's pages and can change nothing"
        verb.add_argument("--read-only", action="store_true", help=about)
        add_place(verb)


def _add_service(verbs: Verbs) -> None:
    service = add_family(verbs, "service", "let systemd start, watch and restart the node")
    about = "write the unit and print the next steps"
    install = add_verb(service, "install", "service:install", about, "dse-node service install --user")
    install.add_argument("--print", action="store_true", dest="is_dry", help="print the unit, write nothing")
    remove = add_verb(service, "remove", "service:remove", "remove the unit; the node and its data stay")
    status = add_verb(service, "status", "service:status", "show whether the unit exists and runs")
    for verb in (install, remove, status):
        whose = verb.add_mutually_exclusive_group()
        whose.add_argument("--user", action="store_true", help="for your own account (default)")
        whose.add_argument("--system", action="store_true", help="for the machine; its data is in /var/lib/dse-node")
    add_place(install)
    add_json(status)


def _add_setup(verbs: Verbs) -> None:
    example = "dse-node init --network campus.toml --yes"
    init = add_verb(verbs, "init", "setup:init", "make a node on this machine", example)
    init.add_argument("--network", metavar="FILE|URL", help="network file to join (default: a new private network)")
    about = "an invitation, if the network file contains none: seven words, or a file"
    init.add_argument("--invitation", metavar='"WORDS"|FILE', default="", help=about)
    init.add_argument("--profile", choices=("guest", "server", "campus"), default="server", help="its limits")
    init.add_argument("--name", default="private", help="name of the new private network (default: private)")
    init.add_argument("--site", default="", metavar="URL", help="crawl this site at the first start")
    add_repeatable(init, "--set", "KEY=VALUE", "set a value, such as node.web_port=8190")
    init.add_argument("--yes", action="store_true", help="ask nothing, neither here nor in a browser")
    add_place(init, json=True)
    identity = add_family(verbs, "identity", "the key that identifies a node")
    add_place(add_verb(identity, "show", "setup:identity_show", "print node id and public key"), json=True)
    _add_backups(verbs)
    store = add_family(verbs, "store", "check the records on a node's disk")
    about = "check all records of a stopped node and list the flaws"
    add_place(add_verb(store, "verify", "store:verify", about, "dse-node store verify"), json=True)
    about = "check all records of a running node now, and fetch damaged ones again from other nodes"
    add_place(add_verb(store, "scrub", "store:scrub", about, "dse-node store scrub"), url=True, json=True)
    paths = add_verb(verbs, "paths", "setup:paths", "print the paths of the node's files")
    paths.add_argument("--keys", action="store_true", help="print every setting with its default and reason")
    add_place(paths, json=True)
    add_json(add_verb(verbs, "version", "setup:version", "print the version"))
    about = "print a script that completes verbs, options and files in a shell"
    shell = add_verb(verbs, "completion", "manual:completion", about, "dse-node completion bash")
    shell.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell to write it for")
    add_verb(verbs, "man", "manual:man", "print the manual page", "dse-node man")


def _add_backups(verbs: Verbs) -> None:
    example = "dse-node backup /media/disk --with-identity"
    backup = add_verb(verbs, "backup", "backups:make", "copy a node, running or not, into one file", example)
    backup.add_argument("target", metavar="FILE|DIR", help="a new file, or a directory in which to create it")
    add_place(backup)
    example = "dse-node restore node.dse ~/dse-node --with-identity"
    restore = add_verb(verbs, "restore", "backups:put_back", "make a node's directory from a backup", example)
    restore.add_argument("file", metavar="FILE", help="a file that `backup` wrote")
    restore.add_argument("dir", metavar="DIR", help="a new directory")
    restore.add_argument("--yes", action="store_true", help="accept the network in the backup without asking")
    about = "with --with-identity: accept all its settings without asking, even hooks, traces and addresses"
    restore.add_argument("--trust-settings", action="store_true", help=about)
    for verb in (backup, restore):
        about = "include the node's key, settings, invitations and publishers' keys, encrypted with a passphrase"
        verb.add_argument("--with-identity", action="store_true", help=about)
        verb.add_argument("--passphrase-file", metavar="FILE", help="read the passphrase from FILE (default: ask)")


def _add_asking(verbs: Verbs) -> None:
    example = "dse-node search '\"a phrase\" site:example.org' --limit 5"
    search = add_verb(verbs, "search", "query_node:search", "search the network", example)
    search.add_argument("query", nargs="+", help="words, phrases, site:host, lang:zh, OR, -without")
    search.add_argument("--limit", type=Between(1, 100), default=10, metavar="N", help="results, 1 to 100 (default 10)")
    language = FilterValue("lang", "a language; give a code such as en or zh")
    search.add_argument(
        "--lang", type=language, default="", metavar="CODE", help="only this language, such as en or zh"
    )
    host = FilterValue("site", "a host; give one such as example.org")
    search.add_argument("--site", type=host, default="", metavar="HOST", help="only this host and its subdomains")
    search.add_argument("--sort", choices=("relevance", "date"), default="relevance", help="date: newest first")
    search.add_argument("--verbatim", action="store_true", help="search for every word exactly as typed")
    search.add_argument("--explain", action="store_true", help="explain each score")
    add_place(search, url=True, json=True)
    status = add_verb(verbs, "status", "query_node:status", "print the state of the node")
    status.add_argument("--ready", action="store_true", help="print only whether it is ready; exit code 0 or 1")
    add_place(status, url=True, json=True)
    _add_listings(verbs)
    about = "list nodes with pages that differ from their sites, and fetch some of these pages again"
    evidence = add_verb(verbs, "evidence", "query_node:evidence", about, "dse-node evidence")
    evidence.add_argument("--no-fetch", action="store_true", help="only list findings of other nodes, fetch nothing")
    evidence.add_argument("--local", action="store_true", help="only the findings and limits of this node")
    add_place(evidence, url=True, json=True)
    _add_doctor(verbs)
    about = "open the owner's page in a browser, or print the link that logs one in, once, within five minutes"
    add_place(add_verb(verbs, "open", "query_node:open_page", about, "dse-node open"), url=True, json=True)
    top = add_verb(
        verbs, "top", "top:top", "watch the node at work (prints once if there is no terminal)", "dse-node top"
    )
    top.add_argument("--every", type=Between(1, 60), default=2, metavar="S", help="seconds between updates (default 2)")
    add_place(top, url=True, json=True)
    _add_crawl(verbs)
    about = "list the last crawl jobs and those that repeat, or cancel one"
    jobs = add_verb(verbs, "jobs", "jobs:jobs", about, "dse-node jobs cancel 3")
    about = "drop the addresses of a job that still wait here, and submit it no more"
    jobs.add_argument("action", nargs="?", choices=("cancel",), metavar="cancel", help=about)
    jobs.add_argument("number", nargs="?", type=Between(1, 1 << 31), metavar="ID", help="of the job, as listed")
    add_place(jobs, url=True, json=True)
    example = "dse-node remove https://example.org/private/"
    remove = add_verb(verbs, "remove", "query_node:remove", "remove pages of your own site from all nodes", example)
    remove.add_argument("prefix", metavar="URL-PREFIX", help="the pages; a file or DNS record of the site must list it")
    add_place(remove, url=True, json=True)
    pause = add_verb(verbs, "pause", "query_node:pause", "pause crawling", "dse-node pause 2h")
    pause.add_argument("duration", nargs="?", default="", metavar="DURATION", help="such as 2h; default: until resumed")
    add_place(pause, url=True)
    add_place(add_verb(verbs, "resume", "query_node:resume", "resume crawling"), url=True)
    about = "leave the network for good: hand over all records, then end the node"
    leave = add_verb(verbs, "leave", "membership:leave", about, "dse-node leave")
    leave.add_argument("--now", action="store_true", help="hand nothing over: show what is at risk, and end with --yes")
    leave.add_argument("--yes", action="store_true", help="do not ask; needed if there is no terminal")
    add_place(leave, url=True)


def _add_listings(verbs: Verbs) -> None:
    peers = add_verb(
        verbs, "peers", "listings:peers", "print the members of the network", "dse-node peers --order disk"
    )
    peers.add_argument("--find", default="", metavar="TEXT", help="only members with it in name, id, address or needs")
    orders = "trouble, name, load, disk, room, due or heard (default: by id)"
    peers.add_argument("--order", default="", metavar="ORDER", help=orders)
    about = "print the owners, copies and crawler of each slot"
    slots = add_verb(verbs, "slots", "listings:slots", about, "dse-node slots --few")
    slots.add_argument("--member", default="", metavar="TEXT", help="only slots of members with TEXT in name or id")
    slots.add_argument("--few", action="store_true", help="only slots with fewer live copies than owners")
    slots.add_argument("--slot", type=Between(0, (1 << 16) - 1), metavar="N", help="only slot N")
    about = "print the sites that this node crawls: pages, last visit, change rate, failures"
    sites = add_verb(verbs, "sites", "listings:sites", about, "dse-node sites --order pages")
    sites.add_argument("--begins", default="", metavar="TEXT", help="only sites with names that begin with TEXT")
    sites.add_argument("--order", choices=("name", "pages", "visited"), default="name", help="default: name")
    sites.add_argument("--network", action="store_true", help="ask all members for their 1,000 largest sites")
    sites.add_argument("--limit", type=Between(1, 1 << 20), default=500, metavar="N", help="rows (default 500)")
    for verb in (peers, slots, sites):
        verb.add_argument("--csv", action="store_true", help="print CSV with a header line")
        add_place(verb, url=True, json=True)


def _add_doctor(verbs: Verbs) -> None:
    about = "find problems and suggest fixes (node running or not)"
    doctor = add_verb(verbs, "doctor", "doctor:doctor", about, "dse-node doctor --bundle report.json")
    about = "show a report without addresses, keys and URLs, then write it, to send to someone who helps you"
    doctor.add_argument("--bundle", metavar="FILE", help=about)
    doctor.add_argument("--with-addresses", action="store_true", help="keep addresses and URLs in the report")
    doctor.add_argument("--network", action="store_true", help="check instead if the network is ready for strangers")
    add_place(doctor, url=True, json=True)
    about = "install the newest release in the signed list of updates.feed; without a list only check"
    update = add_verb(verbs, "update", "doctor:update", about, "dse-node update --check")
    about = "only show this version, the running one, the newest one, and whether the network needs a newer one"
    update.add_argument("--check", action="store_true", help=about)
    add_place(update, url=True, json=True)


def _add_crawl(verbs: Verbs) -> None:
    example = "dse-node crawl https://a.org/docs/ --depth 3 --scope prefix --wait"
    crawl = add_verb(verbs, "crawl", "crawl:crawl", "add URLs to crawl, or explain what happens to one", example)
    crawl.add_argument("urls", nargs="*", metavar="URL", help="start page; https:// if it has no scheme")
    crawl.add_argument("--depth", type=Between(0, 100), default=0, metavar="N", help="links to follow (default 0)")
    about = (
        "where links may lead: the URL's host, its domain, addresses with the same beginning up to the last / "
        "(prefix), or anywhere (whole). Default: host for one URL, else whole"
    )
    crawl.add_argument("--scope", choices=("host", "domain", "prefix", "whole"), help=about)
    about = "leave out addresses in which this RE2 pattern is found, such as /private/ or '\\.pdf$'"
    add_repeatable(crawl, "--exclude", "PATTERN", about)
    about = "have this node submit the job again every day or week; fetches its URLs anew, and new pages behind them"
    crawl.add_argument("--every", choices=("daily", "weekly"), default="", help=about)
    about = "a file with one URL a line, OPML, bookmarks as HTML, or a .warc[.gz]"
    add_repeatable(crawl, "--from", "FILE", about, dest="files", type=Path)
    add_repeatable(crawl, "--sitemap", "URL", "a sitemap with pages to crawl", dest="sitemaps")
    crawl.add_argument("--dry-run", action="store_true", help="show URLs that would be added or refused; write nothing")
    crawl.add_argument("--explain", metavar="URL", help="show when and by which node it is fetched; add nothing")
    crawl.add_argument("--wait", action="store_true", help="wait until each URL and its links have an outcome")
    add_place(crawl, url=True, json=True)


def _add_networks(verbs: Verbs) -> None:
    network = add_family(verbs, "network", "make, check and change a network")
    example = "dse-node network new campus --out campus.toml --bootstrap 192.0.2.1:8091"
    new = add_verb(network, "new", "networks:new", "make a network: its file and two publisher keys", example)
    new.add_argument("name", help="its name for people")
    new.add_argument("--out", required=True, metavar="FILE", help="the network file; the keys are written next to it")
    add_repeatable(new, "--bootstrap", "IP:PORT", "address of a first contact")
    add_repeatable(new, "--seed", "NAME:PORT", "DNS name of a first contact")
    new.add_argument("--info-url", default="", metavar="URL", help="page for site owners, shown in the User-Agent")
    add_repeatable(new, "--prefix", "CIDR", "private addresses that nodes use")
    new.add_argument("--replicas", type=Between(1, 16), metavar="N", help="copies of every page (default 3)")
    new.add_argument("--slot-bits", type=Between(4, 10), metavar="N", help="2^N parts of the key space (default 8)")
    new.add_argument("--min-acks", type=Between(1, 16), metavar="N", help="copies that confirm a write (default 2)")
    about = "for strangers: identities cost work, and newcomers wait before they vote; prints the costs and risks"
    new.add_argument("--open", action="store_true", help=about)
    about = "work for an identity, 2^N hashes (default 0; open 20)"
    new.add_argument("--puzzle-bits", type=Between(0, 28), metavar="N", help=about)
    add_json(new)
    about = "continue without the silent members that this node waits for, or found the network with a new node"
    begin = add_verb(network, "begin", "networks:begin", about)
    add_repeatable(begin, "--key", "FILE", "a publisher's key (default: the one in the node's directory)")
    begin.add_argument("--yes", action="store_true", help="do not ask; needed if there is no terminal")
    add_place(begin, url=True)
    about = "declare a node gone, so that others take over its part at once; signs the next strategy"
    gone = add_verb(network, "gone", "edits:gone", about, "dse-node network gone NODEID --key campus.publisher.key")
    gone.add_argument("node", metavar="NODEID", help="its 40 digits, from `peers --json`")
    add_repeatable(gone, "--key", "FILE", "a publisher's key", required=True)
    gone.add_argument("--yes", action="store_true", help="do not ask; needed if there is no terminal")
    add_place(gone, url=True)
    show = add_verb(network, "show", "networks:show", "check a network file and print its content")
    show.add_argument("file", nargs="?", metavar="FILE", help="default: this node's network file")
    add_place(show, json=True)


def _add_invitations(verbs: Verbs) -> None:
    example = "dse-node invite --uses 3 --days 7 --out for-ann.toml"
    invite = add_verb(verbs, "invite", "invitations:invite", "invite nodes into a network by invitation", example)
    invite.add_argument("--uses", type=Between(1, 1000), default=1, metavar="N", help="number of nodes (default 1)")
    invite.add_argument("--days", type=Between(1, 366), default=7, metavar="D", help="days of validity (default 7)")
    form = invite.add_mutually_exclusive_group(required=True)
    form.add_argument("--out", metavar="FILE", help="write a network file with it, for `init --network FILE`")
    form.add_argument("--words", action="store_true", help="print seven words, valid while this node runs")
    about = "a publisher's key (default: one in the node's directory, or the node's own if it may invite)"
    invite.add_argument("--key", metavar="FILE", help=about)
    add_place(invite, json=True)
    example = "dse-node join campus.toml"
    join = add_verb(verbs, "join", "membership:join", "move a private node, with its pages, into a network", example)
    about = "a network file or its URL, then invitation words if it contains none; words alone: as accept"
    join.add_argument("network", nargs="+", metavar="FILE|URL|WORD", help=about)
    add_place(join)
    example = "dse-node accept for-ann.toml"
    accept = add_verb(verbs, "accept", "invitations:accept", "give this node another invitation", example)
    accept.add_argument("invitation", nargs="+", metavar="WORD|FILE", help="seven words, or a file with the invitation")
    add_place(accept)
