"""The command line: arguments, one verb, an exit code. Each verb's module is imported only when it is asked for.

Exit codes: 0 ok, 1 failed, 2 usage, 78 bad configuration (EX_CONFIG of sysexits.h).
"""

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

OK, FAILED, USAGE, BAD_CONFIG = 0, 1, 2, 78

_ABOUT = """\
A web search engine that nobody owns: crawler, store, index and peer of one network in one daemon.

  try it           dse-node demo
  start your own   dse-node init && dse-node run
  fill it          dse-node crawl https://example.org/ --depth 2
  ask it           dse-node search "words to find", or the page at http://127.0.0.1:8090/
"""
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_CODES = "Exit codes: 0 ok, 1 failed, 2 usage, 78 bad configuration. Reading verbs take --json."

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; returns its exit code. Errors are one line on standard error: what, where, what to do."""
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.verb is None:
        (arguments.parser if "parser" in arguments else parser).print_help()
        return OK
    module, _, function = arguments.verb.partition(":")
    try:
        return int(getattr(importlib.import_module(f"node.cli.commands.{module}"), function)(arguments))
    except BrokenPipeError:  # the reader of our output went away, which is no failure of ours to report
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _tell(error)


def _tell(error: Exception) -> int:
    """One line for each of our own errors, also when a group holds them; anything else is a bug and stays loud."""
    from dht import DseError, InputError
    from node.errors import ConfigError

    if isinstance(error, ExceptionGroup):
        ours, others = error.split(DseError)
        if others is not None or ours is None:
            raise error
        return max(_tell(inner) for inner in ours.exceptions)
    if not isinstance(error, DseError | OSError):
        raise error
    print(f"dse-node: {error}", file=sys.stderr)
    if isinstance(error, ConfigError):
        return BAD_CONFIG
    return USAGE if isinstance(error, InputError) else FAILED


def build_parser() -> argparse.ArgumentParser:
    """All verbs with their help."""
    parser = argparse.ArgumentParser("dse-node", description=_ABOUT, epilog=_CODES, formatter_class=_HelpFormatter)
    parser.set_defaults(verb=None, data_dir=None, config=None, url=None, json=False)
    verbs = parser.add_subparsers(metavar="VERB", title="verbs")
    _add_staying(verbs)
    _add_setup(verbs)
    _add_asking(verbs)
    _add_networks(verbs)
    _add_strategies(verbs)
    return parser


def _verb(verbs: Verbs, name: str, target: str, about: str, example: str = "") -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=about, description=about, epilog=f"example: {example}" if example else None)
    verb.set_defaults(verb=target)
    return verb


def _family(verbs: Verbs, name: str, about: str) -> Verbs:
    """A verb that has verbs of its own; alone it prints its help."""
    family = verbs.add_parser(name, help=about, description=about)
    family.set_defaults(parser=family)
    return family.add_subparsers(metavar="VERB", title="verbs")


def _place(verb: argparse.ArgumentParser, *, url: bool = False, json: bool = False) -> None:
    """Options that say which node is meant, and --json."""
    verb.add_argument("--data-dir", metavar="DIR", help="the node's directory (default: this system's own place)")
    verb.add_argument("--config", metavar="FILE", help="its configuration (default: config.toml in that directory)")
    if url:
        verb.add_argument("--url", metavar="URL", help="its web listener (default: as configured)")
    if json:
        _json(verb)


def _json(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="print JSON for programs")


def _add_staying(verbs: Verbs) -> None:
    demo = _verb(verbs, "demo", "run:demo", "show a network of real processes on this machine", "dse-node demo --once")
    demo.add_argument("--nodes", type=_between(1, 9), default=5, metavar="N", help="how many nodes, 1 to 9 (default 5)")
    demo.add_argument("--once", action="store_true", help="check every promise, report and end")
    demo.add_argument("--port", type=_between(1024, 60000), default=8090, metavar="P", help="first web port (8090)")
    demo.add_argument("--web", type=Path, metavar="DIR", help="a folder of sites, one subfolder a host, to be crawled")
    demo.add_argument("--queries", type=Path, metavar="FILE", help='JSON: [{"q": "words", "expect": "URL"}, …]')
    _json(demo)
    example = "dse-node simulate --nodes 50 --hours 1 --seed 7"
    simulate = _verb(verbs, "simulate", "simulate:simulate", "run many nodes in memory under virtual time", example)
    simulate.add_argument(
        "--nodes", type=_between(1, 5000), default=50, metavar="N", help="how many; over 200 their overlays alone (50)"
    )
    simulate.add_argument("--hours", type=_share(1000.0), default=1.0, metavar="H", help="of their time (default 1)")
    simulate.add_argument("--seed", type=int, default=1, metavar="S", help="decides everything by chance (default 1)")
    simulate.add_argument("--loss", type=_share(0.5), default=0.0, metavar="P", help="share of packets lost (0)")
    simulate.add_argument("--churn", type=_lengths, metavar="S,A", help="mean session and absence, such as 8h,16h")
    simulate.add_argument("--partition", type=_lengths, metavar="T,L", help="cut in halves after T, for L: 1h,10m")
    simulate.add_argument("--nat", type=_share(0.9), default=0.0, metavar="P", help="share of nodes behind a NAT (0)")
    _json(simulate)
    _place(_verb(verbs, "run", "run:run", "run the node until it is told to stop", "dse-node run"))
    bare = _verb(verbs, "bootstrap", "run:bare_overlay", "run a first contact: the overlay alone, without data")
    bare.add_argument("--network", required=True, metavar="FILE", help="the network file")
    bare.add_argument("--port", type=_between(1, 65535), metavar="P", help="UDP and TCP port (default 8091)")
    bare.add_argument("--data-dir", metavar="DIR", help="where it keeps its identity and its peers")
    bare.add_argument("--listen-v4", metavar="IP", help='IPv4 address, "" for none (default 0.0.0.0)')
    bare.add_argument("--listen-v6", metavar="IP", help='IPv6 address, "" for none (default ::)')
    bare.add_argument("--allow-private", action="store_true", help="let private addresses take part: test networks")


def _add_setup(verbs: Verbs) -> None:
    init = _verb(
        verbs, "init", "setup:init", "make a node on this machine", "dse-node init --network campus.toml --yes"
    )
    init.add_argument("--network", metavar="FILE|URL", help="network file to join (default: a new private network)")
    init.add_argument("--profile", choices=("guest", "server", "campus"), default="server", help="how much it may use")
    init.add_argument("--name", default="private", help="name of the new private network (default: private)")
    init.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting, such as node.web_port=8190; repeatable",
    )
    init.add_argument("--yes", action="store_true", help="do not ask")
    _place(init, json=True)
    identity = _family(verbs, "identity", "the key that a node is known by")
    _place(_verb(identity, "show", "setup:identity_show", "print node id and public key"), json=True)
    paths = _verb(verbs, "paths", "setup:paths", "print where a node keeps what")
    paths.add_argument("--keys", action="store_true", help="print every key of config.toml with default and reason")
    _place(paths, json=True)
    _json(_verb(verbs, "version", "setup:version", "print the version"))


def _add_asking(verbs: Verbs) -> None:
    example = "dse-node search '\"a phrase\" site:example.org' --limit 5"
    search = _verb(verbs, "search", "query_node:search", "search the network", example)
    search.add_argument("query", nargs="+", help="words, phrases, site:host, lang:zh, OR, -without")
    search.add_argument(
        "--limit", type=_between(1, 100), default=10, metavar="N", help="results, 1 to 100 (default 10)"
    )
    search.add_argument("--lang", default="", metavar="CODE", help="only this language, such as en or zh")
    search.add_argument("--site", default="", metavar="HOST", help="only this host and those below it")
    search.add_argument("--explain", action="store_true", help="say how each score came about")
    _place(search, url=True, json=True)
    _place(_verb(verbs, "status", "query_node:status", "print the state of the node"), url=True, json=True)
    _place(_verb(verbs, "peers", "query_node:peers", "print the members of the network"), url=True, json=True)
    _add_crawl(verbs)
    pause = _verb(verbs, "pause", "query_node:pause", "stop this node's fetching", "dse-node pause 2h")
    pause.add_argument("duration", nargs="?", default="", metavar="DURATION", help="such as 30m or 2h; else for good")
    _place(pause, url=True)
    _place(_verb(verbs, "resume", "query_node:resume", "fetch again"), url=True)


def _add_crawl(verbs: Verbs) -> None:
    example = "dse-node crawl https://a.org/docs/ --depth 3 --scope prefix --wait"
    crawl = _verb(verbs, "crawl", "crawl:crawl", "hand URLs to the network, or ask about one", example)
    crawl.add_argument("urls", nargs="*", metavar="URL", help="where to begin; https:// where no scheme is given")
    crawl.add_argument("--depth", type=_between(0, 100), default=0, metavar="N", help="links to follow from there (0)")
    crawl.add_argument(
        "--scope",
        choices=("host", "domain", "prefix", "whole"),
        default="whole",
        help="where those links may lead: the URL's host, its registrable domain, addresses that begin as the URL "
        "does up to its last /, or anywhere (whole, the default)",
    )
    crawl.add_argument(
        "--from",
        dest="files",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="URLs, one a line, or the responses of a .warc[.gz]; repeatable",
    )
    crawl.add_argument(
        "--sitemap", dest="sitemaps", action="append", default=[], metavar="URL", help="its pages are seeds; repeatable"
    )
    crawl.add_argument("--dry-run", action="store_true", help="say what would be handed in and what not; write nothing")
    crawl.add_argument("--explain", metavar="URL", help="would it be fetched, by whom, when, why not; hands in nothing")
    crawl.add_argument("--wait", action="store_true", help="until each URL and what it led to has an outcome")
    _place(crawl, url=True, json=True)


def _add_networks(verbs: Verbs) -> None:
    network = _family(verbs, "network", "the file that makes a network one")
    example = "dse-node network new campus --out campus.toml --bootstrap 192.0.2.1:8091"
    new = _verb(network, "new", "networks:new", "make a network: its file and two publisher keys", example)
    new.add_argument("name", help="what people call it")
    new.add_argument("--out", required=True, metavar="FILE", help="the network file; the keys are written beside it")
    new.add_argument("--bootstrap", action="append", default=[], metavar="IP:PORT", help="a first contact; repeatable")
    new.add_argument("--seed", action="append", default=[], metavar="NAME:PORT", help="the same by name; repeatable")
    new.add_argument("--info-url", default="", metavar="URL", help="page for site owners, named in User-Agent")
    new.add_argument(
        "--prefix", action="append", default=[], metavar="CIDR", help="private addresses in use; repeatable"
    )
    new.add_argument("--replicas", type=_between(1, 16), metavar="N", help="copies of every page (default 3)")
    new.add_argument("--slot-bits", type=_between(4, 16), metavar="N", help="2^N parts of the key space (default 8)")
    new.add_argument("--min-acks", type=_between(1, 16), metavar="N", help="copies that a write waits for (default 2)")
    new.add_argument(
        "--open", action="store_true", help="for strangers: identities cost work, newcomers wait for votes"
    )
    new.add_argument(
        "--puzzle-bits", type=_between(0, 28), metavar="N", help="that work, 2^N hashes (default 0; open 20)"
    )
    _json(new)
    show = _verb(network, "show", "networks:show", "check a network file and print what it says")
    show.add_argument("file", nargs="?", metavar="FILE", help="default: the node's own")
    _place(show, json=True)


def _add_strategies(verbs: Verbs) -> None:
    strategy = _family(verbs, "strategy", "the signed document that says what the network does")
    about = "print the strategy in force; with --json a draft for the next"
    _place(_verb(strategy, "show", "strategies:show", about), url=True, json=True)
    _add_draft(strategy)
    example = "dse-node strategy sign draft.json --key campus.publisher.key --out signed.json"
    sign = _verb(strategy, "sign", "drafts:sign", "preview a draft's effect, then sign it; or add a signature", example)
    sign.add_argument("draft", metavar="DRAFT", help="JSON, as `strategy draft` writes it")
    sign.add_argument("--key", action="append", required=True, metavar="FILE", help="a publisher's key; repeatable")
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

    def repeatable(option: str, metavar: str, about: str) -> None:
        draft.add_argument(option, action="append", default=[], metavar=metavar, help=f"{about}; repeatable")

    repeatable("--set", "FIELD=VALUE", "a field, such as replicas=4; lists as JSON")
    for option, metavar, about in (
        ("deny", "HOST", 'a host that nobody crawls; "*.HOST" for it and all below'),
        ("prefer", "HOST=NODEID", "a host that one node crawls where it is a live owner"),
        ("spread", "HOST=D", "a big site that lies in 2^D places"),
        ("rule", "JSON", "any rule"),
    ):
        draft.add_argument(
            f"--{option}", action=_Ordered, dest="rules", metavar=metavar, help=f"{about}; put first; repeatable"
        )
    draft.add_argument(
        "--drop-rule",
        action="append",
        default=[],
        type=_between(1, 1000),
        metavar="N",
        help="without rule N; repeatable",
    )
    repeatable("--block", "NODEID", "nobody speaks with this node")
    repeatable("--unblock", "NODEID", "speak with it again")
    repeatable("--publisher", "KEY", "who signs the version after this one, all of them: hex, or a key file")
    draft.add_argument("--slot-bits", metavar="N|auto", help="2^N slots; auto: 16 to 64 for each member, never fewer")
    draft.add_argument("--members", type=_between(1, 10_000_000), metavar="N", help="how many there are, for auto")
    draft.add_argument("--effective-in", metavar="TIME", help="90s, 30m, 12h, 7d (default: at once)")
    draft.add_argument("--next-in", metavar="TIME", help="when the version after it may be expected (180d)")
    draft.add_argument("--expires-in", metavar="TIME", help="until when it is meant to hold (366d)")
    _place(draft, url=True)
    example = "dse-node strategy diff draft.json --effect"
    diff = _verb(strategy, "diff", "drafts:diff", "what a draft or signed document changes", example)
    diff.add_argument(
        "file", metavar="A", help="a draft or signed document; against the one in force where B is not given"
    )
    diff.add_argument("other", nargs="?", metavar="B", help="another: what B changes of A")
    diff.add_argument("--effect", action="store_true", help="ask the node what it moves: owners, pages, bytes, hosts")
    _place(diff, url=True, json=True)


class _Ordered(argparse.Action):
    """Collects (option, value) of several options in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        given = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*given, (self.option_strings[0].lstrip("-"), values)])


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the examples as they are, and a verb and its help on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)
        self._action_max_length = 16  # argparse forgets that verbs are indented once more


class _between:
    """A whole number within bounds, as an argument's type."""

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most

    def __call__(self, text: str) -> int:
        if not text.isascii() or not text.isdecimal() or not self.least <= int(text) <= self.most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {self.least} to {self.most}")
        return int(text)


class _share:
    """A number from 0 to a bound, as an argument's type."""

    def __init__(self, most: float) -> None:
        self.most = most

    def __call__(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= self.most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {self.most:g}")
        return value


def _lengths(text: str) -> tuple[float, float]:
    """Two lengths of time, as an argument's type."""
    match = re.fullmatch(r"([0-9]{1,6})([smhd]),([0-9]{1,6})([smhd])", text)
    if match is None or not int(match[1]) or not int(match[3]):
        raise argparse.ArgumentTypeError(f"{text!r} is not two lengths of time such as 8h,16h or 90s,10m")
    return float(match[1]) * _UNITS_S[match[2]], float(match[3]) * _UNITS_S[match[4]]
