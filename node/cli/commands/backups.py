"""Does the verbs that copy a node and put it back: backup, restore."""

import getpass
import os
import sys
import time
from argparse import Namespace
from pathlib import Path

from dht import Identity
from node.backup.node_backup import back_up, check_pass_phrase, restore
from node.cli.commands.target_node import data_dir
from node.errors import BadBackup
from node.views.status import size


def make(arguments: Namespace) -> int:
    """Write the backup of a node, which may run, to a file."""
    data, began = data_dir(arguments), time.monotonic()
    data.check()
    pass_phrase = _pass_phrase(arguments, is_new=True)
    target = Path(arguments.target).expanduser()
    if target.is_dir():
        name = Identity.load(data.identity).node_id.hex()[:12]
        target /= f"{name}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.dse"
    if target.exists():
        raise BadBackup(str(target), "is there already", "name another file, or a directory")
    draft = target.with_name(target.name + ".part")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            manifest = back_up(data, file, int(time.time()), pass_phrase)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    took_s = time.monotonic() - began
    print(f"{target}: {len(manifest.files):,} files, {size(target.stat().st_size)}, in {took_s:.1f} s")
    if pass_phrase is None:
        print("the node's key is not in it: restored, it is another node with the same records")
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
    with file:
        done = restore(file, root, str(source), pass_phrase)
    made = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(done.manifest.made_at))
    took_s = time.monotonic() - began
    print(
        f"{root}: node {done.node_id[:12]}, as it was at {made}; {len(done.manifest.files):,} files in {took_s:.1f} s"
    )
    if done.is_same:
        print("stop the node that it was made of before you run this one: it has the same key")
    else:
        print(f"a new node with the records of {done.manifest.node_id[:12]}; a network by invitation asks it for one")
    print(f"Start it: dse-node run --data-dir {root}")
    return 0


def _pass_phrase(arguments: Namespace, *, is_new: bool) -> str | None:
    """Return the pass phrase of --passphrase-file, or ask for it at a terminal; None where no identity is wanted."""
    if not arguments.with_identity:
        return None
    if arguments.passphrase_file:
        try:
            return _checked(Path(arguments.passphrase_file).read_text().rstrip("\n"), is_new=is_new)
        except (OSError, UnicodeDecodeError) as error:
            raise BadBackup(arguments.passphrase_file, str(error), "name a file that holds the pass phrase") from None
    if not sys.stdin.isatty():
        raise BadBackup(
            "--with-identity", "needs a pass phrase, and there is no terminal", "add --passphrase-file FILE"
        )
    pass_phrase = _checked(getpass.getpass("pass phrase: "), is_new=is_new)
    if is_new and getpass.getpass("once more: ") != pass_phrase:
        raise BadBackup("pass phrase", "differs from the first", "try again")
    return pass_phrase


def _checked(pass_phrase: str, *, is_new: bool) -> str:
    if is_new:
        check_pass_phrase(pass_phrase)
    return pass_phrase
