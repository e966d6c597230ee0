"""Does the verbs about the node's settings.

config get and config set go through the running node as its owner's page does, else to its file. hook tries the ways of
[hook]. password set and password remove write a file that a running node reads by itself.
"""

import asyncio
import getpass
import sys
import time
from argparse import Namespace
from pathlib import Path

from bootstrap import load_network
from dht import Identity, refused, write_atomically
from node.api.body import Json
from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import client, data_dir, run_command
from node.config.settings import load_config
from node.errors import BadPassword, ConfigError, HomeNotRunning, NothingToDo
from node.owner.events import OwnerEvent
from node.owner.hook import OwnerHook
from node.owner.passwords import MOST_CHARS, PasswordFile, Role, check_password
from node.owner.setting_change import changed, is_open
from node.owner.setting_list import setting_rows

NEXT_START = "in force from the next start on"


def show(arguments: Namespace) -> int:
    """Print settings with their values, and what the next start will change."""
    name = arguments.key or ""
    rows = [row for row in _rows(arguments) if row["key"] == name or row["key"].startswith(f"{name}." if name else "")]
    if not rows:
        raise ConfigError(name[:80], "is no setting", "`dse-node config get` lists all")
    if arguments.json:
        print_json(rows)
    elif rows[0]["key"] == name:
        print(_shown(rows[0]))
    else:
        print_facts([(row["key"], _shown(row)) for row in rows])
    return 0


def put(arguments: Namespace) -> int:
    """Write a setting into config.toml, and have the running node obey it at once where it can."""
    key, equals, first = arguments.key.partition("=")
    if not (equals or arguments.value):
        raise NothingToDo(key[:80], "has no value", f"write `dse-node config set {key[:80]} VALUE`")
    typed = " ".join([*([first] if equals else []), *arguments.value])
    is_now = False
    if arguments.url or is_open(key):
        try:
            taken = client(arguments, needs_token=True).post("/api/v1/settings", {"key": key, "value": typed})
            is_now = taken["is_now"]
        except HomeNotRunning:
            _write(_file(arguments), key, typed)
    else:
        _write(_file(arguments), key, typed)
    if arguments.json:
        print_json({"key": key, "is_now": is_now})
    else:
        print(f"{key} is set, {'in force now' if is_now else f'{NEXT_START}: {run_command(arguments)}'}")
    return 0


def call_owner(arguments: Namespace) -> int:
    """Tell the owner of nothing, by each way that [hook] sets; 1 where one fails."""
    data, now = data_dir(arguments), time.time()
    config = load_config(data.config).hook
    about = {"node": Identity.load(data.identity).node_id.hex(), "network": load_network(data.network).name}
    event = OwnerEvent("test", "begins", "This is a test of `dse-node hook`; the node needs nothing.", now, now)
    told = asyncio.run(OwnerHook(config, about, waits_s=()).tell(event))
    if not told:
        raise NothingToDo("hook", "has no way to reach you", "set hook.ntfy, hook.mail, hook.url or hook.command")
    for way, flaw in told.items():
        print(f"hook.{way}: {flaw or 'sent'}")
    return 1 if any(told.values()) else 0


def set_password(arguments: Namespace) -> int:
    """Ask for a password, and let it log in from now on, while those of the one before end."""
    file, password = _password_file(arguments), _typed(arguments)
    file.set(_role_of(arguments), password)
    print("the password is set; it logs a browser in at /login of this node")
    return 0


def remove_password(arguments: Namespace) -> int:
    """Take a password away, and end its logins; exit with 1 where there is none."""
    is_removed = _password_file(arguments).remove(_role_of(arguments))
    print("the password is removed, and its logins have ended" if is_removed else "there is no such password")
    return 0 if is_removed else 1


def _rows(arguments: Namespace) -> list[Json]:
    try:
        return list(client(arguments, needs_token=True).get("/api/v1/settings")["settings"])
    except HomeNotRunning:
        if arguments.url:
            raise
    file = _file(arguments)
    rows = setting_rows(load_config(file), file.read_text("utf-8-sig"))
    return [{"key": row.key, "value": row.value, "origin": row.origin, "waiting": None} for row in rows]


def _shown(row: Json) -> str:
    value = "(set, and may be secret)" if row["value"] is None else row["value"]
    return value if row["waiting"] is None else f"{value} ({row['waiting']} {NEXT_START})"


def _file(arguments: Namespace) -> Path:
    data = data_dir(arguments)
    data.check()
    return data.config if arguments.config is None else Path(arguments.config).expanduser().resolve()


def _write(file: Path, key: str, typed: str) -> None:
    """Write a setting into a file, which keeps all its other lines; a value that no start would take is refused."""
    try:
        text, _ = changed(file.read_text("utf-8-sig") if file.exists() else "", key, typed, anything=True)
        write_atomically(file, text.encode())
    except OSError as error:
        raise refused(file, error) from None


def _password_file(arguments: Namespace) -> PasswordFile:
    data = data_dir(arguments)
    data.check()
    return PasswordFile(data.passwords)


def _role_of(arguments: Namespace) -> Role:
    return "viewer" if arguments.read_only else "owner"


def _typed(arguments: Namespace) -> str:
    if arguments.stdin:
        return sys.stdin.readline(2 * MOST_CHARS).rstrip("\r\n")
    if not sys.stdin.isatty():
        raise BadPassword("password", "cannot be asked for, since there is no terminal", "add --stdin")
    password = getpass.getpass("password: ")
    check_password(password)
    if getpass.getpass("once more: ") != password:
        raise BadPassword("password", "differs from the first", "try again")
    return password
