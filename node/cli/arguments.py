"""Describes the verbs of the command line with their options, and names the function that does each.

Nothing that a verb needs is imported here, so that help and a wrong option are answered at once.
"""

import argparse
from importlib import import_module
from pathlib import Path

from node.cli.argument_types import Between
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
_CODES = (
    "Exit codes: 0 ok, 1 failed or the node does not run, 2 usage, 78 bad configuration. Reading verbs take --json."
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
    add_strategies(verbs)
    for module in VERB_MODULES:
        import_module(module).add_verbs(verbs)
    return parser


def _add_staying(verbs: Verbs) -> None:
    run = add_verb(verbs, "run", "run:run", "run the node until it is told to stop", "dse-node run")
    add_place(run)
    run.add_argument("--supervise", action="store_true", help="start it again when it fails, where no systemd does")
    add_place(add_verb(verbs, "stop", "process:stop", "stop the node that runs here, and wait until it has ended"))
    logs = add_verb(verbs, "logs", "process:logs", "print the newest lines of the running node's log")
    logs.add_argument("--follow", action="store_true", help="go on with lines as they come, until Ctrl-C")
    add_place(logs, url=True, json=True)
    _add_config(verbs)
    _add_service(verbs)
    bare = add_verb(verbs, "bootstrap", "run:bare_overlay", "run a first contact: the overlay alone, without data")
    bare.add_argument("--network", required=True, metavar="FILE", help="the network file")
    bare.add_argument("--port", type=Between(1, 65535), metavar="P", help="UDP and TCP port (default 8091)")
    bare.add_argument("--data-dir", metavar="DIR", help="where it keeps its identity and its peers")
    bare.add_argument("--listen-v4", metavar="IP", help='IPv4 address, "" for none (default 0.0.0.0)')
    bare.add_argument("--listen-v6", metavar="IP", help='IPv6 address, "" for none (default ::)')
    bare.add_argument("--allow-private", action="store_true", help="let private addresses take part: test networks")


def _add_config(verbs: Verbs) -> None:
    config = add_family(verbs, "config", "read and change the node's settings")
    get = add_verb(config, "get", "settings:show", "print settings in force", "dse-node config get crawl.hours")
    get.add_argument("key", nargs="?", metavar="NAME", help="one, such as crawl.hours, or a group, such as crawl")
    about = "change a setting in config.toml; a running node takes over at once what it can"
    put = add_verb(config, "set", "settings:put", about, "dse-node config set crawl.hours 22:00-07:00")
    put.add_argument("key", metavar="NAME", help="as `config get` lists it")
    put.add_argument("value", nargs="+", metavar="VALUE", help="as config.toml has it; texts without quotation marks")
    for verb in (get, put):
        add_place(verb, url=True, json=True)


def _add_service(verbs: Verbs) -> None:
    service = add_family(verbs, "service", "have systemd start the node, watch it and start it again")
    about = "write the unit, say what to do next"
    install = add_verb(service, "install", "service:install", about, "dse-node service install --user")
    install.add_argument("--print", action="store_true", dest="is_dry", help="print the unit, write nothing")
    remove = add_verb(service, "remove", "service:remove", "take the unit away; the node and what it keeps stay")
    status = add_verb(service, "status", "service:status", "say whether the unit is there and runs")
    for verb in (install, remove, status):
        whose = verb.add_mutually_exclusive_group()
        whose.add_argument("--user", action="store_true", help="of your own account (default)")
        whose.add_argument("--system", action="store_true", help="of the machine; its data lies in /var/lib/dse-node")
    add_place(install)
    add_json(status)


def _add_setup(verbs: Verbs) -> None:
    example = "dse-node init --network campus.toml --yes"
    init = add_verb(verbs, "init", "setup:init", "make a node on this machine", example)
    init.add_argument("--network", metavar="FILE|URL", help="network file to join (default: a new private network)")
    about = "what lets the node in, where the network file holds no invitation: seven words, or a file"
    init.add_argument("--invitation", metavar='"WORDS"|FILE', default="", help=about)
    init.add_argument("--profile", choices=("guest", "server", "campus"), default="server", help="how much it may use")
    init.add_argument("--name", default="private", help="name of the new private network (default: private)")
    add_repeatable(init, "--set", "KEY=VALUE", "a setting, such as node.web_port=8190")
    init.add_argument("--yes", action="store_true", help="ask nothing, as where no terminal is")
    add_place(init, json=True)
    identity = add_family(verbs, "identity", "the key that a node is known by")
    add_place(add_verb(identity, "show", "setup:identity_show", "print node id and public key"), json=True)
    _add_backups(verbs)
    store = add_family(verbs, "store", "what a node keeps on its disk")
    about = "read all that a stopped node keeps, and say what is wrong"
    add_place(add_verb(store, "verify", "store:verify", about, "dse-node store verify"), json=True)
    about = "have a running node read all that it keeps at once, and fetch from others what is damaged"
    add_place(add_verb(store, "scrub", "store:scrub", about, "dse-node store scrub"), url=True, json=True)
    paths = add_verb(verbs, "paths", "setup:paths", "print where a node keeps what")
    paths.add_argument("--keys", action="store_true", help="print every key of config.toml with default and reason")
    add_place(paths, json=True)
    add_json(add_verb(verbs, "version", "setup:version", "print the version"))
    about = "print what lets a shell complete verbs, options and files"
    shell = add_verb(verbs, "completion", "manual:completion", about, "dse-node completion bash")
    shell.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell that reads it")
    add_verb(verbs, "man", "manual:man", "print the manual page", "dse-node man")


def _add_backups(verbs: Verbs) -> None:
    example = "dse-node backup /media/disk --with-identity"
    backup = add_verb(verbs, "backup", "backups:make", "copy a node, which may run, into one file", example)
    backup.add_argument("target", metavar="FILE|DIR", help="a new file; in a directory it gets a name")
    add_place(backup)
    example = "dse-node restore node.dse ~/dse-node --with-identity"
    restore = add_verb(verbs, "restore", "backups:put_back", "make a node's directory from a backup", example)
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
    search = add_verb(verbs, "search", "query_node:search", "search the network", example)
    search.add_argument("query", nargs="+", help="words, phrases, site:host, lang:zh, OR, -without")
    search.add_argument("--limit", type=Between(1, 100), default=10, metavar="N", help="results, 1 to 100 (default 10)")
    search.add_argument("--lang", default="", metavar="CODE", help="only this language, such as en or zh")
    search.add_argument("--site", default="", metavar="HOST", help="only this host and those below it")
    search.add_argument("--sort", choices=("relevance", "date"), default="relevance", help="date: the newest first")
    search.add_argument("--verbatim", action="store_true", help="look for every word just as it is typed")
    search.add_argument("--explain", action="store_true", help="say how each score came about")
    add_place(search, url=True, json=True)
    status = add_verb(verbs, "status", "query_node:status", "print the state of the node")
    status.add_argument("--ready", action="store_true", help="only whether it is ready: exit code 0, else 1")
    add_place(status, url=True, json=True)
    _add_listings(verbs)
    about = "list the nodes whose pages differ from their sites, and fetch some of the pages again"
    evidence = add_verb(verbs, "evidence", "query_node:evidence", about, "dse-node evidence")
    evidence.add_argument("--no-fetch", action="store_true", help="list what other nodes found, and fetch nothing")
    evidence.add_argument("--local", action="store_true", help="only what this node itself found, its limits included")
    add_place(evidence, url=True, json=True)
    _add_doctor(verbs)
    about = "open the owner's page in a browser, or print the link that logs one in, once, within five minutes"
    add_place(add_verb(verbs, "open", "query_node:open_page", about, "dse-node open"), url=True, json=True)
    top = add_verb(
        verbs, "top", "top:top", "watch the node at work; one time only where no terminal is", "dse-node top"
    )
    top.add_argument("--every", type=Between(1, 60), default=2, metavar="S", help="seconds between looks (default 2)")
    add_place(top, url=True, json=True)
    _add_crawl(verbs)
    about = "list the crawls that were handed in since the node's start, or cancel one"
    jobs = add_verb(verbs, "jobs", "jobs:jobs", about, "dse-node jobs cancel 3")
    jobs.add_argument("action", nargs="?", choices=("cancel",), help="give up what still waits of a job here")
    jobs.add_argument("number", nargs="?", type=Between(1, 1 << 31), metavar="ID", help="of the job, as listed")
    add_place(jobs, url=True, json=True)
    example = "dse-node remove https://example.org/private/"
    remove = add_verb(verbs, "remove", "query_node:remove", "have pages of your own site removed everywhere", example)
    remove.add_argument("prefix", metavar="URL-PREFIX", help="all that begins so; a file at the site must name it")
    add_place(remove, url=True, json=True)
    pause = add_verb(verbs, "pause", "query_node:pause", "stop this node's fetching", "dse-node pause 2h")
    pause.add_argument("duration", nargs="?", default="", metavar="DURATION", help="such as 30m or 2h; else for good")
    add_place(pause, url=True)
    add_place(add_verb(verbs, "resume", "query_node:resume", "fetch again"), url=True)
    about = "leave the network for good: hand everything over, then end the node"
    leave = add_verb(verbs, "leave", "leaving:leave", about, "dse-node leave")
    leave.add_argument("--now", action="store_true", help="hand nothing over: say what is at risk; ends with --yes")
    leave.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")
    add_place(leave, url=True)


def _add_listings(verbs: Verbs) -> None:
    peers = add_verb(
        verbs, "peers", "listings:peers", "print the members of the network", "dse-node peers --order disk"
    )
    peers.add_argument("--find", default="", metavar="TEXT", help="only those with this in name, id, address or needs")
    orders = "trouble, name, load, disk, room, due or heard, as the owner's page has them; default: by id"
    peers.add_argument("--order", default="", metavar="ORDER", help=orders)
    about = "print who owns, keeps and crawls each slot"
    slots = add_verb(verbs, "slots", "listings:slots", about, "dse-node slots --few")
    slots.add_argument("--member", default="", metavar="TEXT", help="only slots of members with this in name or id")
    slots.add_argument("--few", action="store_true", help="only slots with fewer live copies than owners")
    slots.add_argument("--slot", type=Between(0, (1 << 16) - 1), metavar="N", help="only the slot of this number")
    about = "print the sites that this node crawls: pages, last visit, how often they change, failures"
    sites = add_verb(verbs, "sites", "listings:sites", about, "dse-node sites --order pages")
    sites.add_argument("--begins", default="", metavar="TEXT", help="only sites whose names begin so")
    sites.add_argument("--order", choices=("name", "pages", "visited"), default="name", help="default: name")
    sites.add_argument("--network", action="store_true", help="ask all members for their 1,000 largest sites")
    sites.add_argument("--limit", type=Between(1, 1 << 20), default=500, metavar="N", help="rows (default 500)")
    for verb in (peers, slots, sites):
        verb.add_argument("--csv", action="store_true", help="print CSV, with a line of names")
        add_place(verb, url=True, json=True)


def _add_doctor(verbs: Verbs) -> None:
    about = "look for what keeps the node, running or not, from doing all that it should, and say what helps"
    doctor = add_verb(verbs, "doctor", "doctor:doctor", about, "dse-node doctor --bundle report.json")
    about = "show a report without addresses, keys and URLs, then write it, for whom you ask for help"
    doctor.add_argument("--bundle", metavar="FILE", help=about)
    doctor.add_argument("--with-addresses", action="store_true", help="leave addresses and URLs in it")
    add_place(doctor, url=True, json=True)
    about = "say which version this is, which runs, and whether the network asks for a newer one; asks nobody else"
    update = add_verb(verbs, "update", "doctor:update", about, "dse-node update --check")
    update.add_argument("--check", action="store_true", help="look only, which is all that it does")
    add_place(update, url=True, json=True)


def _add_crawl(verbs: Verbs) -> None:
    example = "dse-node crawl https://a.org/docs/ --depth 3 --scope prefix --wait"
    crawl = add_verb(verbs, "crawl", "crawl:crawl", "hand URLs to the network, or ask about one", example)
    crawl.add_argument("urls", nargs="*", metavar="URL", help="where to begin; https:// where no scheme is given")
    crawl.add_argument("--depth", type=Between(0, 100), default=0, metavar="N", help="links to follow from there (0)")
    about = (
        "where those links may lead: the URL's host, its registrable domain, addresses that begin as the URL "
        "does up to its last /, or anywhere (whole, the default)"
    )
    crawl.add_argument("--scope", choices=("host", "domain", "prefix", "whole"), default="whole", help=about)
    about = "URLs, one a line, or the responses of a .warc[.gz]"
    add_repeatable(crawl, "--from", "FILE", about, dest="files", type=Path)
    add_repeatable(crawl, "--sitemap", "URL", "its pages are seeds", dest="sitemaps")
    crawl.add_argument("--dry-run", action="store_true", help="say what would be handed in and what not; write nothing")
    crawl.add_argument("--explain", metavar="URL", help="would it be fetched, by whom, when, why not; hands in nothing")
    crawl.add_argument("--wait", action="store_true", help="until each URL and what it led to has an outcome")
    add_place(crawl, url=True, json=True)


def _add_networks(verbs: Verbs) -> None:
    network = add_family(verbs, "network", "the file that makes a network one")
    example = "dse-node network new campus --out campus.toml --bootstrap 192.0.2.1:8091"
    new = add_verb(network, "new", "networks:new", "make a network: its file and two publisher keys", example)
    new.add_argument("name", help="what people call it")
    new.add_argument("--out", required=True, metavar="FILE", help="the network file; the keys are written beside it")
    add_repeatable(new, "--bootstrap", "IP:PORT", "a first contact")
    add_repeatable(new, "--seed", "NAME:PORT", "the same by name")
    new.add_argument("--info-url", default="", metavar="URL", help="page for site owners, named in User-Agent")
    add_repeatable(new, "--prefix", "CIDR", "private addresses in use")
    new.add_argument("--replicas", type=Between(1, 16), metavar="N", help="copies of every page (default 3)")
    new.add_argument("--slot-bits", type=Between(4, 10), metavar="N", help="2^N parts of the key space (default 8)")
    new.add_argument("--min-acks", type=Between(1, 16), metavar="N", help="copies that a write waits for (default 2)")
    about = "for strangers: identities cost work, newcomers wait for votes; says what that costs and does not stop"
    new.add_argument("--open", action="store_true", help=about)
    about = "that work, 2^N hashes (default 0; open 20)"
    new.add_argument("--puzzle-bits", type=Between(0, 28), metavar="N", help=about)
    add_json(new)
    about = "make this node the first of its network: it starts though nobody answers"
    add_place(add_verb(network, "begin", "networks:begin", about))
    about = "say that a node will not be back, so that its part goes to others at once: signs the next strategy"
    gone = add_verb(network, "gone", "edits:gone", about, "dse-node network gone NODEID --key campus.publisher.key")
    gone.add_argument("node", metavar="NODEID", help="its 40 digits, as `peers --json` shows them")
    add_repeatable(gone, "--key", "FILE", "a publisher's key", required=True)
    gone.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")
    add_place(gone, url=True)
    show = add_verb(network, "show", "networks:show", "check a network file and print what it says")
    show.add_argument("file", nargs="?", metavar="FILE", help="default: the node's own")
    add_place(show, json=True)


def _add_invitations(verbs: Verbs) -> None:
    example = "dse-node invite --uses 3 --days 7 --out for-ann.toml"
    invite = add_verb(verbs, "invite", "invitations:invite", "let others into a network by invitation", example)
    invite.add_argument("--uses", type=Between(1, 1000), default=1, metavar="N", help="for how many nodes (default 1)")
    invite.add_argument("--days", type=Between(1, 366), default=7, metavar="D", help="how long it is valid (default 7)")
    form = invite.add_mutually_exclusive_group(required=True)
    form.add_argument("--out", metavar="FILE", help="write a network file that holds it, for `init --network FILE`")
    form.add_argument("--words", action="store_true", help="print seven words; they count while this node runs")
    about = "a publisher's key (default: one in the node's directory, or the node's own where it may invite)"
    invite.add_argument("--key", metavar="FILE", help=about)
    add_place(invite, json=True)
    example = "dse-node join campus.toml"
    join = add_verb(verbs, "join", "joining:join", "move a private node, with its pages, into a network", example)
    about = "a network file or its URL, then the words of an invitation if it holds none; words alone: as accept"
    join.add_argument("network", nargs="+", metavar="FILE|URL|WORD", help=about)
    add_place(join)
    example = "dse-node accept for-ann.toml"
    accept = add_verb(verbs, "accept", "invitations:accept", "give this node another invitation", example)
    accept.add_argument("invitation", nargs="+", metavar="WORD|FILE", help="seven words, or a file that holds it")
    add_place(accept)
