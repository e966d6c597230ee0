"""Describes the verbs of the strategy to the parser of the command line."""

from node.cli.argument_types import Between, Ordered
from node.cli.verb_building import Parser, Verbs, add_family, add_place, add_repeatable, add_verb

_ONE_INDEX = "accept index_copies=1: if a node dies, its slots may be unsearchable for a minute"
_MEMBERS = "number of members (default: ask the node); more than 10 slot bits need 128"
_RULES = (  # options of `strategy draft` that become rules of the crawl, in the order of the command line
    ("deny", "HOST", 'no node crawls or keeps this host or URL prefix ("URL$": one URL); "*.HOST" includes subdomains'),
    ("prefer", "HOST=NODEID", "one member fetches this host for all slots"),
    ("delay", "HOST=SECONDS", "the shortest time between two requests to this host"),
    ("spread", "HOST=D", "spread a big site over 2^D places"),
    ("only", "PREFIXES", "fetch only from these addresses (10.20.0.0/16,2001:db8::/48); HOST=PREFIXES: one host"),
    ("never", "PREFIXES", "never fetch from these addresses; HOST=PREFIXES: one host"),
    ("rule", "JSON", "any rule"),
)


def add_strategies(verbs: Verbs) -> None:
    """Add `strategy` and its verbs."""
    strategy = add_family(verbs, "strategy", "show and change the signed rules of the network")
    about = "print the strategy in force; with --json a draft for the next"
    add_place(add_verb(strategy, "show", "strategies:show", about), url=True, json=True)
    _add_draft(strategy)
    _add_diff(strategy)
    example = "dse-node strategy sign draft.json --key campus.publisher.key --out signed.json"
    sign = add_verb(
        strategy, "sign", "drafts:sign", "preview a draft's effect, then sign it; or add a signature", example
    )
    sign.add_argument("draft", metavar="DRAFT", help="a JSON file that `strategy draft` wrote")
    add_repeatable(sign, "--key", "FILE", "a publisher's key", required=True)
    sign.add_argument("--out", metavar="FILE", help="default: standard output")
    _add_signing(sign)
    _add_edit(strategy)
    publish = add_verb(strategy, "publish", "strategies:publish", "publish a signed strategy")
    publish.add_argument("signed", metavar="SIGNED", help="a file that `strategy sign` wrote")
    add_place(publish, url=True, json=True)
    about = "print every version: digest, signers, time, changes of publishers, forks"
    add_place(add_verb(strategy, "log", "strategies:log", about), url=True, json=True)


def _add_edit(strategy: Verbs) -> None:
    about = "change the strategy in $EDITOR or by questions, show the effect, sign and publish it"
    edit = add_verb(strategy, "edit", "edits:edit", about, "dse-node strategy edit --ask")
    edit.add_argument("--ask", action="store_true", help="ask for each change, even if EDITOR is set")
    add_repeatable(edit, "--key", "FILE", "a publisher's key (default: those in the node's directory)")
    _add_signing(edit)


def _add_signing(verb: Parser) -> None:
    """Add the options of a verb that shows a draft's effect and signs it."""
    verb.add_argument("--members", type=Between(1, 10_000_000), metavar="N", help=_MEMBERS)
    verb.add_argument("--one-index", action="store_true", help=_ONE_INDEX)
    verb.add_argument("--yes", action="store_true", help="do not ask; needed if there is no terminal")
    about = "sign although N present members are removed and fewer than two, or less than half, stay"
    verb.add_argument("--yes-i-lose", type=Between(1, 10_000_000), metavar="N", help=about)
    add_place(verb, url=True)


def _add_draft(strategy: Verbs) -> None:
    example = 'dse-node strategy draft --set replicas=4 --deny "*.example.org" --effective-in 1h --out draft.json'
    draft = add_verb(strategy, "draft", "drafts:make", "write a draft of the next version", example)
    draft.add_argument("--from", dest="source", metavar="FILE", help="a signed version (default: the node's newest)")
    draft.add_argument("--out", metavar="FILE", help="default: standard output")
    draft.add_argument("--force", action="store_true", help="overwrite the file of --out")

    add_repeatable(draft, "--set", "FIELD=VALUE", "set a field, such as replicas=4; lists as JSON")
    for option, metavar, about in _RULES:
        about = f"{about}; put first; repeatable"
        draft.add_argument(f"--{option}", action=Ordered, dest="rules", metavar=metavar, help=about)
    add_repeatable(draft, "--drop-rule", "N", "remove rule N", type=Between(1, 1000))
    add_repeatable(draft, "--block", "NODEID", "exclude this node from the network")
    add_repeatable(draft, "--gone", "NODEID", "this node will not return; if it does, it is a new member")
    add_repeatable(draft, "--unblock", "NODEID", "end the exclusion of this node")
    add_repeatable(draft, "--admit", "KEY[=DAY]", "let the owner of this public key invite, until a day (2027-01-31)")
    add_repeatable(
        draft,
        "--revoke",
        "ID[=DAY]",
        "revoke an invitation or key, by its id in `peers`; DAY keeps members invited earlier",
    )
    about = "the highest room step of a member, -2 to 2; attested members need it for steps above 0"
    add_repeatable(draft, "--room", "NODEID=STEP", about)
    about = "let this public key import pages (`identity show`); in a network by invitation every member may"
    add_repeatable(draft, "--importer", "KEY", about)
    add_repeatable(draft, "--no-importer", "KEY", "end this permission; imported pages stay")
    add_repeatable(
        draft, "--publisher", "KEY", "a publisher of the version after this one, as hex or key file; name all"
    )
    draft.add_argument("--slot-bits", metavar="N|auto", help="2^N slots; auto: at least 16 for each member")
    draft.add_argument("--members", type=Between(1, 10_000_000), metavar="N", help=_MEMBERS)
    draft.add_argument("--one-index", action="store_true", help=_ONE_INDEX)
    draft.add_argument("--effective-in", metavar="TIME", help="90s, 30m, 12h, 7d (default: at once)")
    draft.add_argument("--next-in", metavar="TIME", help="time until the next version (default 180d)")
    draft.add_argument("--expires-in", metavar="TIME", help="time until it expires (default 366d)")
    add_place(draft, url=True)


def _add_diff(strategy: Verbs) -> None:
    example = "dse-node strategy diff draft.json --effect"
    diff = add_verb(strategy, "diff", "drafts:diff", "show the changes of a draft or signed document", example)
    about = "a draft or signed document; compared with the strategy in force unless B is given"
    diff.add_argument("file", metavar="A", help=about)
    diff.add_argument("other", nargs="?", metavar="B", help="another document: show how B differs from A")
    diff.add_argument("--effect", action="store_true", help="also show the effect on owners, pages, bytes and hosts")
    add_place(diff, url=True, json=True)
