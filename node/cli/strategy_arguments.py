"""Describes the verbs of the strategy to the parser of the command line."""

from node.cli.argument_types import Between, Ordered
from node.cli.verb_building import Parser, Verbs, add_family, add_place, add_repeatable, add_verb

_ONE_INDEX = "with index_copies=1: a dead node's slots may be unsearchable for a minute"
_MEMBERS = "how many there are, if the node is not to be asked: more than 10 bits take 128"
_RULES = (  # options of `strategy draft` that become rules of the crawl, in the order of the command line
    ("deny", "HOST", 'a host, or URL prefix, that nobody crawls or keeps; "*.HOST" for it and all below'),
    ("prefer", "HOST=NODEID", "a host that one member fetches, whichever node holds its slot"),
    ("delay", "HOST=SECONDS", "how long at least between two requests to a host"),
    ("spread", "HOST=D", "a big site that lies in 2^D places"),
    ("only", "PREFIXES", "fetch only from addresses in these, as 10.20.0.0/16,2001:db8::/48; HOST=PREFIXES: one host"),
    ("never", "PREFIXES", "fetch never from addresses in these; HOST=PREFIXES: one host"),
    ("rule", "JSON", "any rule"),
)


def add_strategies(verbs: Verbs) -> None:
    """Add `strategy` and its verbs."""
    strategy = add_family(verbs, "strategy", "the signed document that says what the network does")
    about = "print the strategy in force; with --json a draft for the next"
    add_place(add_verb(strategy, "show", "strategies:show", about), url=True, json=True)
    _add_draft(strategy)
    _add_diff(strategy)
    example = "dse-node strategy sign draft.json --key campus.publisher.key --out signed.json"
    sign = add_verb(
        strategy, "sign", "drafts:sign", "preview a draft's effect, then sign it; or add a signature", example
    )
    sign.add_argument("draft", metavar="DRAFT", help="JSON, as `strategy draft` writes it")
    add_repeatable(sign, "--key", "FILE", "a publisher's key", required=True)
    sign.add_argument("--out", metavar="FILE", help="default: standard output")
    _add_signing(sign)
    _add_edit(strategy)
    publish = add_verb(strategy, "publish", "strategies:publish", "give a signed strategy to the network")
    publish.add_argument("signed", metavar="SIGNED", help="what `strategy sign` wrote")
    add_place(publish, url=True, json=True)
    about = "print every version: digest, signers, when, changes of publishers, forks"
    add_place(add_verb(strategy, "log", "strategies:log", about), url=True, json=True)


def _add_edit(strategy: Verbs) -> None:
    about = "change the strategy in $EDITOR, or by questions; then its effect, its signature, published"
    edit = add_verb(strategy, "edit", "edits:edit", about, "dse-node strategy edit --ask")
    edit.add_argument("--ask", action="store_true", help="ask for each change, though EDITOR is set")
    add_repeatable(edit, "--key", "FILE", "a publisher's key (default: those in the node's directory)")
    _add_signing(edit)


def _add_signing(verb: Parser) -> None:
    """Add the options of a verb that shows a draft's effect and signs it."""
    verb.add_argument("--members", type=Between(1, 10_000_000), metavar="N", help=_MEMBERS)
    verb.add_argument("--one-index", action="store_true", help=_ONE_INDEX)
    verb.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")
    about = "sign though so many present members are put out, of whom fewer than two or less than half stay"
    verb.add_argument("--yes-i-lose", type=Between(1, 10_000_000), metavar="N", help=about)
    add_place(verb, url=True)


def _add_draft(strategy: Verbs) -> None:
    example = 'dse-node strategy draft --set replicas=4 --deny "*.example.org" --effective-in 1h --out draft.json'
    draft = add_verb(strategy, "draft", "drafts:make", "write the next version, from the newest known", example)
    draft.add_argument("--from", dest="source", metavar="FILE", help="a signed version (default: the node's newest)")
    draft.add_argument("--out", metavar="FILE", help="default: standard output")
    draft.add_argument("--force", action="store_true", help="write over FILE")

    add_repeatable(draft, "--set", "FIELD=VALUE", "a field, such as replicas=4; lists as JSON")
    for option, metavar, about in _RULES:
        about = f"{about}; put first; repeatable"
        draft.add_argument(f"--{option}", action=Ordered, dest="rules", metavar=metavar, help=about)
    add_repeatable(draft, "--drop-rule", "N", "without rule N", type=Between(1, 1000))
    add_repeatable(draft, "--block", "NODEID", "nobody speaks with this node")
    add_repeatable(draft, "--gone", "NODEID", "this node will not be back; if it is, it is a newcomer")
    add_repeatable(draft, "--unblock", "NODEID", "speak with it again")
    add_repeatable(draft, "--admit", "KEY[=DAY]", "who may invite, too, by its public key, until a day (2027-01-31)")
    add_repeatable(
        draft,
        "--revoke",
        "ID[=DAY]",
        "a voucher or key, or what `peers` shows of it: nobody new by it, none let in since a day",
    )
    about = (
        "the step of room that counts for a member at most, -2 to 2; where members are attested, above 0 by this alone"
    )
    add_repeatable(draft, "--room", "NODEID=STEP", about)
    about = "who may import pages, by its public key (`identity show`); in a network by invitation every member may"
    add_repeatable(draft, "--importer", "KEY", about)
    add_repeatable(draft, "--no-importer", "KEY", "it may not any more; what it imported stays")
    add_repeatable(draft, "--publisher", "KEY", "who signs the version after this one, all of them: hex, or a key file")
    draft.add_argument(
        "--slot-bits", metavar="N|auto", help="2^N slots; auto: 16 and more for each member, never fewer"
    )
    draft.add_argument("--members", type=Between(1, 10_000_000), metavar="N", help=_MEMBERS)
    draft.add_argument("--one-index", action="store_true", help=_ONE_INDEX)
    draft.add_argument("--effective-in", metavar="TIME", help="90s, 30m, 12h, 7d (default: at once)")
    draft.add_argument("--next-in", metavar="TIME", help="when the version after it may be expected (180d)")
    draft.add_argument("--expires-in", metavar="TIME", help="until when it is meant to hold (366d)")
    add_place(draft, url=True)


def _add_diff(strategy: Verbs) -> None:
    example = "dse-node strategy diff draft.json --effect"
    diff = add_verb(strategy, "diff", "drafts:diff", "what a draft or signed document changes", example)
    about = "a draft or signed document; against the one in force where B is not given"
    diff.add_argument("file", metavar="A", help=about)
    diff.add_argument("other", nargs="?", metavar="B", help="another: what B changes of A")
    diff.add_argument("--effect", action="store_true", help="ask the node what it moves: owners, pages, bytes, hosts")
    add_place(diff, url=True, json=True)
