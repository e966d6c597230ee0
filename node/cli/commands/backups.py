"""Does the verbs that copy a node and put it back: backup, restore."""

import getpass
import sys
import time
from argparse import Namespace
from pathlib import Path

from dht import Network
from node.backup.node_backup import Consent, Restored, check_pass_phrase, restore
from node.backup.restored_settings import Settings
from node.backup.scheduled_backups import backup_name, write_backup
from node.cli.commands.networks import addresses_of
from node.cli.commands.output import ask, is_terminal, print_facts
from node.cli.commands.target_node import data_dir
from node.config.toml_writer import toml_value
from node.errors import BadBackup
from node.views.status import size
from node.views.strategy import instant

ASKED = "settings that run a program, open this node to others or send data"
NO_PROOF = "(the signature proves that the file is complete, not that its maker can be trusted)"


def make(arguments: Namespace) -> int:
    """Write the backup of a node, which may run, to a file."""
    data, began = data_dir(arguments), time.monotonic()
    data.check()
    pass_phrase = _pass_phrase(arguments, is_new=True)
    target = Path(arguments.target).expanduser()
    if target.is_dir():
        target /= backup_name(data, int(time.time()))
    if target.exists():
        raise BadBackup(str(target), "is there already", "name another file, or a directory")
    if not target.parent.is_dir():
        raise BadBackup(str(target.parent), "is not there", "mount the disk, or make the directory")
    manifest = write_backup(data, target, int(time.time()), pass_phrase)
    took_s = time.monotonic() - began
    print(f"{target}: {len(manifest.files):,} files, {size(target.stat().st_size)}, in {took_s:.1f} s")
    if pass_phrase is None:
        print("the node's key is not in it: a restored node is a new node with the same records and limits")
    return 0


def put_back(arguments: Namespace) -> int:
    """Make a node's directory from a backup."""
    source, root, began = (
        Path(arguments.file).expanduser(),
        Path(arguments.dir).expanduser().resolve(),
        time.monotonic(),
    )
    pass_phrase = _pass_phrase(arguments, is_new=False)
    try:
        file = source.open("rb")
    except OSError as error:
        raise BadBackup(str(source), error.strerror or str(error), "name the file that `backup` wrote") from None
    is_sure, trusts = arguments.yes or arguments.trust_settings, arguments.trust_settings
    consent = Consent(lambda network: _takes_network(network, is_sure), lambda found: _takes_settings(found, trusts))
    with file:
        if not file.seekable():
            raise BadBackup(str(source), "is read twice, which a pipe is not", "save it as a file first")
        done = restore(file, root, str(source), pass_phrase, consent)
    made, took_s = instant(done.manifest.made_at), time.monotonic() - began
    print(
        f"{root}: node {done.node_id[:12]}, as it was at {made}; {len(done.manifest.files):,} files in {took_s:.1f} s"
    )
    _say_what_it_is(done)
    print(f"Start it: dse-node run --data-dir {root}")
    return 0


def _say_what_it_is(done: Restored) -> None:
    if done.is_same:
        print("stop the original node before you run this one: both have the same key")
    else:
        print(f"a new node with the records of {done.manifest.node_id[:12]}; `dse-node accept` gives it an invitation")
        print("restored settings: the quota and the limits of the crawl; all others have defaults: see config.toml")
    if done.left_out:
        print(f"left out, because you did not accept them: {', '.join(done.left_out)}")
        print("to restore them, run restore again with --trust-settings, or write them into config.toml")


def _takes_network(network: Network, is_sure: bool) -> bool:
    """Show the network of a backup, and ask whether it is the one that is wanted; raises BadBackup where nobody can be
    asked."""
    print(f"the network in this backup {NO_PROOF}:")
    contacts = [*addresses_of(network), *network.seeds]
    facts = [("name", network.name), ("id", network.id), ("first contacts", ", ".join(contacts) or "none")]
    print_facts([(f"  {name}", value) for name, value in (*facts, ("about it", network.info_url or "nothing"))])
    if is_sure:
        return True
    if not is_terminal():
        remedy = "check that these are the name and id of your network, then add --yes"
        raise BadBackup("--yes", "is missing, and there is no terminal to ask at", remedy)
    return ask("Is this your network? [y/N] ").strip().lower() in ("y", "yes")


def _takes_settings(settings: Settings, is_trusted: bool) -> bool:
    """Show the settings of a backup that may do harm, and ask whether they are taken over: none where nobody can be
    asked."""
    print(f"the backup has {ASKED} {NO_PROOF}:")
    print_facts([(f"  {key}", toml_value(value)) for key, value in settings.items()])
    if is_trusted or not is_terminal():
        return is_trusted
    return ask("Restore them? [y/N] ").strip().lower() in ("y", "yes")


def _pass_phrase(arguments: Namespace, *, is_new: bool) -> str | None:
    """Return the passphrase of --passphrase-file, or ask for it at a terminal; None where no identity is wanted."""
    if not arguments.with_identity:
        return None
    if arguments.passphrase_file:
        try:
            return _checked(Path(arguments.passphrase_file).read_text().rstrip("\n"), is_new=is_new)
        except (OSError, UnicodeDecodeError) as error:
            raise BadBackup(arguments.passphrase_file, str(error), "name a file that contains the passphrase") from None
    if not sys.stdin.isatty():
        raise BadBackup("--with-identity", "needs a passphrase, and there is no terminal", "add --passphrase-file FILE")
    pass_phrase = _checked(getpass.getpass("passphrase: "), is_new=is_new)
    if is_new and getpass.getpass("once more: ") != pass_phrase:
        raise BadBackup("passphrase", "differs from the first", "try again")
    return pass_phrase


def _checked(pass_phrase: str, *, is_new: bool) -> str:
    if is_new:
        check_pass_phrase(pass_phrase)
    return pass_phrase
